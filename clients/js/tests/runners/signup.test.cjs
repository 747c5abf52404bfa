// The same test under Jest, Mocha, node:test and Vitest, as each is without settings.
const assert = require('node:assert/strict');
const { connect } = require('@.example/mayfly');
const { createTransport } = require('nodemailer');

const runner = globalThis.it ? globalThis : require('node:test');
const { it, beforeAll = runner.before, afterAll = runner.after } = runner;

let mayfly;
beforeAll(async () => {
  mayfly = await connect();
});
afterAll(() => mayfly.stop());

it('signs up', async () => {
  const inbox = await mayfly.newInbox();
  const app = createTransport({ host: mayfly.smtpHost, port: mayfly.smtpPort });
  const from = 'Acme <no-reply@acme.example>';
  await app.sendMail({ from, to: inbox.email, subject: 'Your code', text: 'Your verification code is 482913.' });
  assert.equal(await inbox.waitForCode(), '482913');
  if (process.env.FAIL) {
    await app.sendMail({ from, to: inbox.email, subject: 'Welcome', text: 'Hello.' });
    await new Promise((spent) => setTimeout(spent, 2700));
    await inbox.waitForCode();
  }
});

if (typeof jest !== 'undefined') {
  it('has time within the limit of its test', () => assert.ok(mayfly.timeout() > 5000), 8000);
}
