export * from './client.js';
export { defaultTimeout, type Inbox, type Mail, type WaitOptions } from './inbox.js';
export { connect, start, type Connection, type Mayfly } from './service.js';
