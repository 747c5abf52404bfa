import type { AddressInfo } from 'node:net';
import { expect, test as withMayfly } from '@.example/playwright';
import { send, signup, site } from './app.ts';

// An application for each worker, which sends mail to the worker's service.
const test = withMayfly.extend<{}, { url: string }>({
  url: [
    async ({ mayfly }, use) => {
      const server = site(mayfly.smtp).listen(0, '127.0.0.1');
      await new Promise((listening) => server.once('listening', listening));
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      server.close();
    },
    { scope: 'worker' },
  ],
});

for (const user of ['ada', 'bob', 'eve', 'joe']) {
  test(`${user} signs up`, async ({ page, url, inbox }) => {
    await page.goto(url);
    await page.getByLabel('E-mail').fill(inbox.email);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByLabel('Code').fill(await inbox.waitForCode());
    await page.getByRole('button', { name: 'Confirm' }).click();
    await expect(page.getByText('Welcome')).toBeVisible();
  });
}

test('compares a mail with its snapshot', async ({ inbox, mayfly }) => {
  await send(mayfly.smtp, inbox.email, 'Your code', signup('333333'));
  await expect(inbox).toMatchMailSnapshot('code');
  await inbox.expectNone({ timeout: 300 });
});

test('differs', async ({ inbox, mayfly }) => {
  await send(mayfly.smtp, inbox.email, 'My code', signup('135790'));
  await expect(inbox).toMatchMailSnapshot('code');
});

test('fails', async ({ inbox, mayfly }) => {
  await send(mayfly.smtp, inbox.email, 'Hello =?utf-8?q?=1B[31m?=', signup('135790'));
  await inbox.waitForLink({ subject: 'reset', timeout: 500 });
});
