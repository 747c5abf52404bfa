import { execFile, spawn } from 'node:child_process';

type Environment = Record<string, string | undefined>;

const optional = `@.example/mayfly-${process.platform}-${process.arch}`;

/** What to do where there is no program. */
export const missing =
  `the program is missing: let npm install optional packages too, here ${optional}, ` +
  'or put mayfly on the PATH, or set MAYFLY_BIN to its path';

/** The program that npm has installed with this package. */
export function installed(): string | undefined {
  try {
    return require.resolve(`${optional}/mayfly${process.platform === 'win32' ? '.exe' : ''}`);
  } catch {
    return undefined;
  }
}

const program = () => process.env.MAYFLY_BIN || installed() || 'mayfly';

function explain(error: Error): Error {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
    return error;
  }
  const named = process.env.MAYFLY_BIN;
  return new Error(named ? `MAYFLY_BIN is ${named}, which does not exist` : missing);
}

/** The exit status of a `mayfly wait` that nothing arrived for in time. */
export const timedOut = 5;

/** A command that failed: its exit status, what it said, and what it had printed. */
export class CommandError extends Error {
  override name = 'CommandError';
  constructor(
    readonly status: number,
    stderr: string,
    readonly stdout = '',
  ) {
    super(stderr.trim().replace(/^mayfly: /gm, '') || `mayfly ended with status ${status}`);
  }
}

/** Runs a command of mayfly and returns what it printed. */
export function run(args: string[], environment: Environment): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env: { ...process.env, ...environment }, maxBuffer: Infinity };
    execFile(program(), args, options, (error, stdout, stderr) => {
      if (!error) {
        resolve(stdout);
      } else {
        reject(typeof error.code === 'number' ? new CommandError(error.code, stderr, stdout) : explain(error));
      }
    });
  });
}

// What `mayfly exec` runs: it says where the service is, and ends with its input.
const keeper = `
  const own = Object.entries(process.env).filter(([name]) => name.startsWith('MAYFLY_'));
  console.log(JSON.stringify(Object.fromEntries(own)));
  process.stdin.resume();`;

/** Starts a private service, which ends with this process, even if that is killed. */
export function startService(): Promise<{ environment: Environment; stop(): Promise<void> }> {
  return new Promise((resolve, reject) => {
    // Options that a test runner sets for its own processes are not meant for this one.
    const child = spawn(program(), ['exec', '--', process.execPath, '-e', keeper], { env: { ...process.env, NODE_OPTIONS: '' } });
    const ended = new Promise<void>((end) => child.once('close', () => end()));
    let stdout = '';
    let stderr = '';
    child.once('error', (error) => reject(explain(error)));
    child.once('close', (status) => reject(new CommandError(status ?? 1, stderr)));
    child.stdin.on('error', () => {}); // it has ended, which close reports
    child.stderr.on('data', (data) => (stderr += data));
    child.stdout.on('data', (data) => {
      stdout += data;
      if (!stdout.endsWith('\n')) {
        return;
      }
      let environment: Environment;
      try {
        environment = JSON.parse(stdout);
      } catch {
        reject(new Error(`${program()} exec started no service: is that Mayfly?`));
        child.kill();
        return;
      }
      const pipes = [child.stdin, child.stdout, child.stderr] as unknown as { ref(): void; unref(): void }[];
      [child, ...pipes].forEach((handle) => handle.unref()); // a service that nobody stops keeps no process running
      resolve({
        environment,
        stop: () => {
          child.ref();
          child.stdin.end();
          return ended;
        },
      });
    });
  });
}
