/**
 * Brings node_modules in line with package-lock.json before an npm script runs, and sees to it that the script
 * then runs on Node 24. Costs a few milliseconds when there is nothing to do.
 * Plain JavaScript without packages, as it runs before there are any, on whatever Node the machine has.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alone } from './install/lock.mjs';
import { isComplete, isStamped, removeStamp, stamp } from './install/packages.mjs';
import { isLikelyUsable, makeUsable, NEEDED } from './install/runtime.mjs';

const OLDEST = 20;
const root = fileURLToPath(new URL('..', import.meta.url));
/** A started service needs no tools of its developers, so an image may leave them out. */
const forDevelopment = process.env.npm_lifecycle_event !== 'prestart';

const say = (text) => process.stderr.write(`${text}\n`);

function fail(text, code = 1) {
  say(`\n${text}\n`);
  process.exit(code);
}

/** The npm that runs us, on the Node that runs it; else the one in PATH. */
function npm(args) {
  const cli = process.env.npm_execpath ?? '';
  const [command, first] = cli.endsWith('npm-cli.js')
    ? [process.env.npm_node_execpath ?? process.execPath, [cli]]
    : ['npm', []];
  // Our own output belongs to the script that follows, so npm's goes to stderr as well.
  return spawn(command, [...first, ...args], { cwd: root, stdio: ['ignore', 2, 2] });
}

/** Whatever npm was told to leave out elsewhere, the service and its tests need all of this. */
const CI = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--bin-links'];
/** The Node that installs is not the one that runs the packages, so what they say about it is not news. */
const QUIET = ['--engine-strict=false', '--no-audit', '--no-fund', '--loglevel=error'];

async function install(onStart) {
  say('Installing the packages of package-lock.json (npm ci) …');
  const startedAt = performance.now();
  removeStamp(root);
  const child = npm([...CI, ...QUIET]);
  const ended = new Promise((resolve) => {
    child.once('error', (error) => fail(`npm could not be started: ${error.message}`));
    child.once('close', resolve);
  });
  if (child.pid) onStart(child);
  const code = await ended;
  if (code !== 0)
    fail(
      `npm ci failed (exit code ${code}).\nThe packages come from the npm registry or from npm's cache: ` +
        'see the message above, check the network or proxy settings of npm, and run this again.',
    );
  say(`Installed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

if (process.platform === 'win32') fail('Windows is not supported. Use WSL, where this is a Linux machine.');
if (Number.parseInt(process.versions.node, 10) < OLDEST)
  fail(`Node ${OLDEST} or newer is needed to install; this is Node ${process.versions.node}.`);

if (!(isStamped(root) && isLikelyUsable(root))) {
  if (!isComplete(root, forDevelopment))
    await alone(join(root, '.install.lock'), say, async (onStart) => {
      if (!isComplete(root, forDevelopment)) await install(onStart);
    });
  const problem = makeUsable(root);
  if (problem)
    fail(
      `This service runs on Node ${NEEDED} or newer. ${problem}\n` +
        `On Linux (x64 and arm64, glibc) it brings its own; elsewhere install Node ${NEEDED} (https://nodejs.org).`,
    );
  if (isComplete(root, true)) stamp(root);
}
