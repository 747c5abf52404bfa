export * from './client.js';
export type { Inbox, Mail, WaitOptions } from './inbox.js';
export { connect, start, type Connection, type Mayfly } from './service.js';
export { timeoutWithin } from './timeout.js';
