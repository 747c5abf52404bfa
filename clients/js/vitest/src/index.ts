import { connect, toMatchMailSnapshot, type Inbox, type Mayfly, type SnapshotOptions } from '@.example/mayfly';
import { expect, test as base } from 'vitest';

export { expect };
expect.extend({ toMatchMailSnapshot });

declare module 'vitest' {
  interface Matchers<T = any> {
    /** Compares the next message of an inbox with mails/NAME.txt next to the test. */
    toMatchMailSnapshot(name: string, options?: SnapshotOptions): Promise<void>;
  }
}

/**
 * Vitest's `test` with an inbox in every test. `mayfly` is the service: the one of the environment, such
 * as that of `mayfly exec`, else one for each worker. The messages of a failed test are printed.
 */
export const test = base.extend<{ mayfly: Mayfly; inbox: Inbox }>({
  mayfly: [
    async ({}, use) => {
      const mayfly = await connect();
      await use(mayfly);
      await mayfly.stop();
    },
    { scope: 'worker' },
  ],
  inbox: async ({ mayfly, task }, use) => {
    const inbox = await mayfly.newInbox();
    await use(inbox);
    if (task.result?.state === 'fail') {
      for (const { id } of (await inbox.messages()).reverse()) {
        console.error(await inbox.read(id));
      }
    }
    await inbox.delete();
  },
});
