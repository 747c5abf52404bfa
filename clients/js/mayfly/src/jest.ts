// Adds toMatchMailSnapshot to the expect of Jest.
import { expect } from '@jest/globals';
import type { SnapshotOptions } from './inbox.js';
import { toMatchMailSnapshot } from './snapshot.js';

expect.extend({ toMatchMailSnapshot });

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> {
    /** Compares the next message of an inbox with mails/NAME.txt next to the test. */
    toMatchMailSnapshot(name: string, options?: SnapshotOptions): Promise<void>;
  }
}

declare global {
  namespace jest {
    interface Matchers<R, T = {}> {
      /** Compares the next message of an inbox with mails/NAME.txt next to the test. */
      toMatchMailSnapshot(name: string, options?: SnapshotOptions): Promise<void>;
    }
  }
}
