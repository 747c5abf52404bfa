// A mail, exactly one, and as it was before, under Jest, node:test and Vitest. Mocha's limit is too short for a slow machine.
const assert = require('node:assert/strict');
const { join } = require('node:path');
const { connect } = require('@.example/mayfly');
const { createTransport } = require('nodemailer');

const runner = globalThis.it ? globalThis : require('node:test');
const { it, beforeAll = runner.before, afterAll = runner.after } = runner;

let mayfly;
beforeAll(async () => {
  mayfly = await connect();
});
afterAll(() => mayfly.stop());

async function signUp(inbox, subject) {
  const app = createTransport({ host: mayfly.smtpHost, port: mayfly.smtpPort });
  const text = `Your verification code is ${Math.floor(100_000 + Math.random() * 900_000)}.`;
  await app.sendMail({ from: 'Acme <no-reply@acme.example>', to: inbox.email, subject, text });
}

it('gets exactly one', async () => {
  const inbox = await mayfly.newInbox();
  await inbox.expectNone({ timeout: 100 });
  await signUp(inbox, 'Your code');
  const [mail] = await inbox.messages(1);
  assert.equal(mail.message.subject, 'Your code');
});

it('compares a mail with its snapshot', async () => {
  const inbox = await mayfly.newInbox();
  const dir = join(__dirname, 'mails');
  await signUp(inbox, 'Your code');
  await inbox.snapshot('code', { dir });
  await signUp(inbox, process.env.FAIL ? 'My code' : 'Your code');
  if (typeof jest === 'undefined') {
    await inbox.snapshot('code', { dir });
  } else {
    require('@.example/mayfly/jest');
    await expect(inbox).toMatchMailSnapshot('code');
  }
});
