// Checked, not run: what a CommonJS module sees of the types.
import '@.example/cypress';
import { mayfly as plugin } from '@.example/cypress/plugin';
import { ApiError, connect, type Inbox } from '@.example/mayfly';
import { expect, test } from '@.example/playwright';

export async function code(inbox: Inbox): Promise<string> {
  const same: typeof inbox = await (await connect({ timeout: 1000 })).newInbox();
  return same.waitForCode().catch((error) => (error instanceof ApiError ? String(error.status) : ''));
}
test('has an inbox', async ({ inbox }) => expect(await code(inbox)).toBe(''));
export const setUp: (on: Cypress.PluginEvents, config: Cypress.PluginConfigOptions) => void = plugin;
