import { expect as bare, test as base } from '@playwright/test';
import { connect, timeoutWithin, toMatchMailSnapshot, type Inbox, type Mayfly, type SnapshotOptions } from '@.example/mayfly';

/** Playwright's `expect` with `toMatchMailSnapshot(name)`, which compares the next message of an inbox with mails/NAME.txt next to the test. */
export const expect = bare.extend({
  toMatchMailSnapshot(inbox: Inbox, name: string, options?: SnapshotOptions) {
    return toMatchMailSnapshot.call({ testPath: base.info().file, isNot: this.isNot }, inbox, name, options);
  },
});

/**
 * Playwright's `test` with an inbox in every test. `mayfly` is the service: the one of the environment,
 * such as that of `mayfly exec`, else one for each worker. The messages of a failed test are attached to its
 * report.
 */
export const test = base.extend<{ inbox: Inbox }, { mayfly: Mayfly }>({
  mayfly: [
    async ({}, use) => {
      const mayfly = await connect({ timeout: () => timeoutWithin(limit()) });
      await use(mayfly);
      await mayfly.stop();
    },
    { scope: 'worker' },
  ],
  inbox: async ({ mayfly }, use, testInfo) => {
    const inbox = await mayfly.newInbox();
    await use(inbox);
    if (testInfo.status !== testInfo.expectedStatus) {
      for (const { id, subject } of (await inbox.messages()).reverse()) {
        const name = subject.replace(/\p{C}/gu, '\uFFFD') || id; // reporters print it in a terminal
        await testInfo.attach(name, { body: await inbox.read(id), contentType: 'text/plain' });
        await testInfo.attach(`${name}.eml`, { body: Buffer.from(await inbox.raw(id)), contentType: 'message/rfc822' });
      }
    }
    await inbox.delete();
  },
});

/** The limit of the running test; outside of one, as in a fixture of a worker, there is none to be known. */
function limit(): number | undefined {
  try {
    return base.info().timeout;
  } catch {
    return undefined;
  }
}
