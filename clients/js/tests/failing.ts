// Not run with the other tests: it has to fail.
import { test } from '@.example/vitest';
import { send, signup } from './app.ts';

test('fails', async ({ inbox, mayfly }) => {
  await send(mayfly.smtp, inbox.email, 'Hello', signup('135790'));
  throw new Error('as it should');
});
