import { expect, test } from '@.example/vitest';
import { send, signup } from './app.ts';

test('compares a mail with its snapshot', async ({ inbox, mayfly }) => {
  await send(mayfly.smtp, inbox.email, 'Your code', signup('333333'));
  await expect(inbox).toMatchMailSnapshot('code');
  await inbox.expectNone({ timeout: 300 });
});

const services = new Set<string>();

for (const code of ['111111', '222222']) {
  test(`signs up with ${code}`, async ({ inbox, mayfly }) => {
    await send(mayfly.smtp, inbox.email, 'Your code', signup(code));
    expect(await inbox.waitForCode()).toBe(code);
    expect(mayfly.timeout()).toBe(10_000); // the limit of the test is 30,000
    expect(services.add(mayfly.baseUrl).size).toBe(1);
  });
}
