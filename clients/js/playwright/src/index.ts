import { test as base } from '@playwright/test';
import { connect, type Inbox, type Mayfly } from 'mayfly';

export { expect } from '@playwright/test';

/**
 * Playwright's `test` with an inbox in every test. `mayfly` is the service: the one of the environment,
 * such as that of `mayfly exec`, else one for each worker. The mails of a failed test are attached to its
 * report.
 */
export const test = base.extend<{ inbox: Inbox }, { mayfly: Mayfly }>({
  mayfly: [
    async ({}, use) => {
      const mayfly = await connect();
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
