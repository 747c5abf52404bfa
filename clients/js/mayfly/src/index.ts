export * from './client.js';
export type { Inbox, Mail, SnapshotOptions, WaitOptions } from './inbox.js';
export { connect, start, type Connection, type Mayfly } from './service.js';
export { toMatchMailSnapshot } from './snapshot.js';
export { timeoutWithin } from './timeout.js';
