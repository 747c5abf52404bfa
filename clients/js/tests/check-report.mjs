// Checks the report of Playwright: one test has failed, and has its mail attached; the mail of another differs from its snapshot.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const { stats, suites } = JSON.parse(readFileSync('playwright.json'));
assert.deepEqual([stats.expected, stats.unexpected], [5, 2]);
const resultOf = (title) => suites[0].specs.find((spec) => spec.title === title).tests[0].results[0];
assert.match(resultOf('differs').error.message, /mails.code\.txt; MAYFLY_UPDATE=1 accepts it\n- Subject: \[-Your-\] code\n\+ Subject: \{\+My\+\} code$/);
const failed = resultOf('fails');
assert.match(failed.error.message, /no mail to .* with a link \(subject "reset"\) within 500ms; there is instead .*\n.*Hello/);
const [text, raw] = failed.attachments.filter((a) => a.body).map((a) => ({ ...a, body: Buffer.from(a.body, 'base64').toString() }));
assert.deepEqual([text.name, text.contentType, raw.name, raw.contentType], ['Hello \uFFFD[31m', 'text/plain', 'Hello \uFFFD[31m.eml', 'message/rfc822']);
assert.match(text.body, /135790/);
assert.match(raw.body, /^Subject: Hello .*\r$/m);
