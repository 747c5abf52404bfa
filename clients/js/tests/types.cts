// Checked, not run: what a CommonJS module sees of the types.
import '@.example/cypress';
import { mayfly as plugin } from '@.example/cypress/plugin';
import { ApiError, connect, type Inbox } from '@.example/mayfly';
import '@.example/mayfly/jest';
import { expect, test } from '@.example/playwright';
import { expect as inJest } from '@jest/globals';

export async function code(inbox: Inbox): Promise<string> {
  const same: typeof inbox = await (await connect({ timeout: 1000 })).newInbox();
  return same.waitForCode().catch((error) => (error instanceof ApiError ? String(error.status) : ''));
}
test('has an inbox', async ({ inbox }) => {
  expect(await code(inbox)).toBe('');
  const codes: (string | null)[] = (await inbox.messages(2, { timeout: 1000 })).map((mail) => mail.code);
  const subjects: string[] = (await inbox.messages()).map((mail) => mail.subject);
  await expect(inbox).toMatchMailSnapshot('signup', { subject: codes[0] ?? subjects[0], dir: 'mails' });
  const matched: Promise<void> = inJest(inbox).toMatchMailSnapshot('signup');
  await matched;
});
export const setUp: (on: Cypress.PluginEvents, config: Cypress.PluginConfigOptions) => void = plugin;
