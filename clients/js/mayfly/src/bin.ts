#!/usr/bin/env node
// The command mayfly. It runs the installed program and no other: one on the PATH may be this command.
import { spawn } from 'node:child_process';
import { installed, missing } from './program.js';

const program = installed();
if (!program) {
  console.error(`mayfly: ${missing}`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
process.on('SIGINT', () => {}); // a terminal sends it to both
for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => child.kill(signal));
}
child.on('exit', (status, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(status);
  }
});
