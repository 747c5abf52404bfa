import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError, Client, connect, start, type Mayfly } from '@.example/mayfly';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { send, signup } from './app.ts';

let mayfly: Mayfly;
beforeAll(async () => {
  mayfly = await start();
});
afterAll(() => mayfly.stop());

describe('an inbox', () => {
  test('hands each mail over once for each thing asked of it, the oldest first', async () => {
    const inbox = await mayfly.newInbox();
    await send(mayfly.smtp, inbox.email, 'One', signup('111111'));
    await send(mayfly.smtp, inbox.email, 'Two', signup('222222'));
    expect(await inbox.waitForCode()).toBe('111111');
    expect(await inbox.waitForLink()).toBe('https://acme.example/confirm?t=111111');
    expect(await inbox.waitForCode()).toBe('222222');
    const mail = await inbox.waitForMessage({ subject: 'tw', from: 'acme', body: '222222' });
    expect(mail).toMatchObject({ code: '222222', link: 'https://acme.example/confirm?t=222222', message: { subject: 'Two' } });
    expect(mail.rendered).toContain('222222');
    const next = inbox.waitForCode();
    await send(mayfly.smtp, inbox.email, 'Three', signup('333333'));
    expect(await next).toBe('333333');
    expect((await inbox.messages()).map((m) => m.subject)).toEqual(['Three', 'Two', 'One']);
  });

  test('can be deleted again, as fixtures do', async () => {
    const inbox = await mayfly.newInbox();
    await inbox.delete();
    await inbox.delete();
    await expect(inbox.messages()).rejects.toMatchObject({ status: 404 });
  });

  test('says why nothing came in time, and what arrived instead', async () => {
    const mayfly = await start();
    const inbox = await mayfly.newInbox();
    const missing = `no mail to ${inbox.email} with a code within 300ms`;
    await expect(inbox.waitForCode({ timeout: 300 })).rejects.toThrow(`${missing}; nothing has connected to SMTP ${mayfly.smtp} in the last `);
    await send(mayfly.smtp, 'bob@shop.example', 'Welcome', 'Hello.');
    await expect(inbox.waitForCode({ timeout: 300 })).rejects.toThrow(`${missing}; mail arrived at another inbox: bob@shop.example`);
    await send(mayfly.smtp, inbox.email, 'Your code', signup('482913'));
    expect(await inbox.waitForCode()).toBe('482913');
    await mayfly.client.deleteInbox((await mayfly.client.listInboxes({ limit: 1 })).inboxes[0].id);
    await send(mayfly.smtp, inbox.email, 'Welcome \x1b[31m', 'Hello.\n\nHow\nare\nyou?');
    const error = await inbox.waitForCode({ timeout: 300, subject: '' }).catch((error: Error) => error);
    expect(String(error).replaceAll(/\d\.\d s ago/g, '0.1 s ago').replace(/within 300ms; .*/, 'within 300ms; …')).toBe(
      `Error: ${missing}; …
  0.1 s ago  Acme <no-reply@acme.example>  Welcome \uFFFD[31m
             | Hello.
             | How
             | are
             | …
  0.1 s ago  Acme <no-reply@acme.example>  Your code
             code 482913 (was returned before)
             link https://acme.example/confirm?t=482913
             | Your verification code is 482913.
             | Confirm your e-mail address: https://acme.example/confirm?t=482913¹`,
    );
    expect(String(error)).toMatch(/returned before was "Your code" from Acme <no-reply@acme.example>\n/);
    await expect(inbox.waitForLink({ timeout: 300, from: 'shop', subject: 'reset' })).rejects.toThrow(
      `no mail to ${inbox.email} with a link (from "shop") (subject "reset") within 300ms; `,
    );
    await mayfly.stop();
  });

  test('gets none, and exactly so many', async () => {
    const inbox = await mayfly.newInbox();
    await inbox.expectNone({ timeout: 300 });
    await send(mayfly.smtp, inbox.email, 'One', 'Hello.');
    await send(mayfly.smtp, inbox.email, 'Two', 'Hello.');
    await inbox.expectNone({ timeout: 300, subject: 'reset' });
    expect((await inbox.messages(2)).map(({ message }) => message.subject)).toEqual(['One', 'Two']);
    await inbox.expectNone({ timeout: 300 });
    await expect(inbox.messages(1, { timeout: 300 })).rejects.toThrow(`no mail to ${inbox.email} within 300ms; returned before was "`);
    await send(mayfly.smtp, inbox.email, 'Three', 'Hello.');
    await expect(inbox.expectNone()).rejects.toThrow(
      /^mail to \S+ arrived, but none was expected\n +\d\.\d s ago  Acme <no-reply@acme.example>  Three\n +\| Hello.$/,
    );
    await send(mayfly.smtp, inbox.email, 'Four', 'Hello.');
    await send(mayfly.smtp, inbox.email, 'Five', 'Hello.');
    await expect(inbox.messages(1)).rejects.toThrow(/^mail to \S+ arrived, but 1 expected\n.*  Five\n/);
  });

  test('is compared with a snapshot, which is written first', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'mails-'));
    const inbox = await mayfly.newInbox();
    const compare = async (text: string, environment: { CI?: string; MAYFLY_UPDATE?: string } = {}) => {
      vi.stubEnv('CI', environment.CI ?? '');
      vi.stubEnv('MAYFLY_UPDATE', environment.MAYFLY_UPDATE ?? '');
      await send(mayfly.smtp, inbox.email, 'Your code', text);
      await inbox.snapshot('code', { dir });
    };
    await expect(compare(signup('111111'), { CI: 'true' })).rejects.toThrow(/code\.txt; it was written: commit it$/);
    await compare(signup('222222'), { CI: 'true' });
    const other = (code: string) => signup(code).replace('Your', 'My');
    const differs = `the message differs from its snapshot ${join(dir, 'code.txt')}; MAYFLY_UPDATE=1 accepts it\n- [-Your-] verification`;
    await expect(compare(other('333333'))).rejects.toThrow(differs);
    await compare(other('444444'), { MAYFLY_UPDATE: '1' });
    await compare(other('555555'));
    vi.unstubAllEnvs();
    rmSync(dir, { recursive: true });
  });
});

test('a method for each operation', async () => {
  const { client } = mayfly;
  const made = await client.createInbox({ ttl: 120 });
  expect(made.ttl).toBe(120);
  await send(mayfly.smtp, made.email, 'One', 'Hello.');
  await send(mayfly.smtp, made.email, 'Two', 'Hello.');
  expect(await client.getInbox(made.id)).toMatchObject({ email: made.email, message_count: 2 });
  expect((await client.listInboxes()).inboxes.map((i) => i.id)).toContain(made.id);
  expect((await client.listInboxes({ limit: 1, after: made.id })).inboxes.map((i) => i.id)).not.toContain(made.id);
  const [two] = (await client.listMessages(made.id, { limit: 1 })).messages;
  const [one] = (await client.listMessages(made.id, { after: two.id })).messages;
  expect(await client.getMessage(made.id, one.id)).toMatchObject({ subject: 'One', text: 'Hello.\n' });
  expect(new TextDecoder().decode(await client.getRawMessage(made.id, one.id))).toContain('Subject: One\r\n');
  expect(await client.getDelivery(made.id, one.id)).toMatchObject({ recipients: [{ address: made.email }] });
  expect(await client.deleteMessage(made.id, one.id)).toEqual({ deleted: true });
  expect((await client.listMessages(made.id)).messages.map((m) => m.subject)).toEqual(['Two']);
  expect(await client.deleteMessages(made.id)).toEqual({ deleted: true });
  expect((await client.extendInbox(made.id, 600)).message_count).toBe(0);
  expect(await client.getDescription()).toMatch(/^openapi: 3/);
  expect(await client.getHealth()).toEqual(await client.getReadiness());
  expect(await client.deleteInbox(made.id)).toEqual({ deleted: true });
  await expect(client.getInbox(made.id)).rejects.toThrow(ApiError);
  await expect(client.getAttachment('../x', '?', '#')).rejects.toMatchObject({ status: 404 });
});

test('the key stays on this machine or is encrypted, and is not passed on', async () => {
  expect(() => new Client('http://api.example', 'key')).toThrow('unencrypted to api.example');
  new Client('http://api.example', 'key', { insecure: true });
  const server = createServer((_, response) => response.writeHead(302, { Location: mayfly.baseUrl + '/healthz' }).end()).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  await expect(new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'key').getHealth()).rejects.toThrow();
  server.close();
});

test('connects to the service of the environment', async () => {
  vi.stubEnv('MAYFLY_BASE_URL', mayfly.baseUrl);
  vi.stubEnv('MAYFLY_API_KEY', mayfly.apiKey);
  const same = await connect();
  expect(() => same.smtp).toThrow('set MAYFLY_SMTP');
  const inbox = await same.newInbox();
  await same.stop();
  expect((await mayfly.client.getInbox(inbox.id)).email).toBe(inbox.email);
  vi.stubEnv('MAYFLY_API_KEY', '');
  await expect(connect()).rejects.toThrow('set MAYFLY_BASE_URL and MAYFLY_API_KEY');
  vi.stubEnv('MAYFLY_API_KEY', 'its');
  vi.stubEnv('MAYFLY_SMTP', 'mail.example:25');
  const other = 'https://other.example';
  await expect(connect({ baseUrl: other })).rejects.toThrow(`no API key for ${other}`);
  expect((await connect({ baseUrl: other, apiKey: 'other' })).knownSmtp).toBeUndefined();
  expect(await connect({ baseUrl: mayfly.baseUrl + '/' })).toMatchObject({ apiKey: 'its', knownSmtp: 'mail.example:25' });
  vi.stubEnv('MAYFLY_BASE_URL', '');
  expect(await connect({ baseUrl: other })).toMatchObject({ apiKey: 'its' });
  vi.unstubAllEnvs();
});

test('says how to install the program', async () => {
  vi.stubEnv('MAYFLY_BIN', '/nowhere/mayfly');
  await expect(start()).rejects.toThrow('MAYFLY_BIN is /nowhere/mayfly, which does not exist');
  vi.stubEnv('MAYFLY_BIN', '/bin/echo');
  await expect(start()).rejects.toThrow('/bin/echo exec started no service: is that Mayfly?');
  vi.unstubAllEnvs();
});

// Linux alone lists the processes of a program in files.
describe.runIf(process.platform === 'linux')('leaves nothing behind', () => {
  const waiting = `
    import { start } from '@.example/mayfly';
    const mayfly = await start();
    const inbox = await mayfly.newInbox();`;
  const endings: [string, string, (pid: number) => void][] = [
    ['when it is killed', `inbox.waitForCode({ timeout: 600_000 });`, (pid) => process.kill(pid, 'SIGKILL')],
    ['when nobody stops it', ``, () => {}],
    ['when it is stopped', `await mayfly.stop();`, () => {}],
  ];
  test.each(endings)('%s', async (_, script, end) => {
    const folder = mkdtempSync(join(tmpdir(), 'left-'));
    const program = join(folder, 'mayfly');
    copyFileSync(createRequire(import.meta.url).resolve(`@.example/mayfly-linux-${process.arch}/mayfly`), program);
    const running = () =>
      readdirSync('/proc').filter((pid) => {
        try {
          return readlinkSync(`/proc/${pid}/exe`).startsWith(program);
        } catch {
          return false; // it is no process, or has ended
        }
      });
    const child = spawn(process.execPath, ['--input-type=module', '-e', `${waiting}\n${script}\nconsole.log('ready');`], {
      env: { ...process.env, MAYFLY_BIN: program, TMPDIR: folder }, stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((ready) => child.stdout.once('data', ready));
    if (script.includes('waitFor')) {
      await vi.waitUntil(() => running().length > 1, { timeout: 20_000 }); // the service, and who waits
    }
    end(child.pid!);
    await vi.waitUntil(() => running().length === 0 && readdirSync(folder).join() === 'mayfly', { timeout: 20_000 });
    rmSync(folder, { recursive: true });
  });
});
