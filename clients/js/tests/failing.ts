// Not run with the other tests: these have to fail.
import { expect, test } from '@.example/vitest';
import { send, signup } from './app.ts';

test('fails', async ({ inbox, mayfly }) => {
  await send(mayfly.smtp, inbox.email, 'Hello', signup('135790'));
  throw new Error('as it should');
});

test('differs', async ({ inbox, mayfly }) => {
  await send(mayfly.smtp, inbox.email, 'My code', signup('135790'));
  await expect(inbox).toMatchMailSnapshot('code');
});

test('is no snapshot of none', async ({ inbox }) => {
  await expect(inbox).not.toMatchMailSnapshot('code', { timeout: 300 });
});
