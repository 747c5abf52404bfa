import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mayfly } from '@.example/cypress/plugin';
import { start } from '@.example/mayfly';
import { expect, test, vi } from 'vitest';
import { send, signup } from './app.ts';

// Cypress itself is not run: its program does not come from npm.
test('the tasks of Cypress', async () => {
  const service = await start();
  vi.stubEnv('MAYFLY_BASE_URL', service.baseUrl);
  vi.stubEnv('MAYFLY_API_KEY', service.apiKey);
  const events: Record<string, any> = {};
  const screenshotsFolder = mkdtempSync(join(tmpdir(), 'screenshots-'));
  mayfly(((name: string, handler: unknown) => (events[name] = handler)) as Cypress.PluginEvents, { screenshotsFolder } as Cypress.PluginConfigOptions);
  const task = (name: string, argument?: unknown) => events.task[`mayfly:${name}`](argument);

  const { id, email } = await task('inbox');
  await send(service.smtp, email, 'Your code', signup('482913'));
  expect(await task('code', { id })).toBe('482913');
  expect(await task('link', { id, options: { timeout: 5000 } })).toBe('https://acme.example/confirm?t=482913');
  expect(await task('message', { id })).toMatchObject({ code: '482913' });
  expect(await task('none', { id, options: { timeout: 300 } })).toBe(null);
  await expect(task('messages', { id, n: 1, options: { timeout: 300 } })).rejects.toThrow('returned before was "Your code"');
  expect(await task('end', 'Sign up: with <a> code')).toBe(null);
  const kept = join(screenshotsFolder, 'Sign up with a code');
  const [mail, text] = readdirSync(kept).sort();
  expect([mail, text]).toEqual([expect.stringMatching(/\.eml$/), expect.stringMatching(/\.txt$/)]);
  expect(readFileSync(join(kept, text), 'utf8')).toContain('482913');
  expect((await service.client.listInboxes()).total).toBe(0);
  expect(() => task('code', { id })).toThrow('cy.inbox()');

  await task('inbox');
  await task('end', null);
  expect(readdirSync(screenshotsFolder)).toHaveLength(1);
  await events['after:run']();
  rmSync(screenshotsFolder, { recursive: true });
  vi.unstubAllEnvs();
  await service.stop();
});
