/**
 * Installs the packages of package-lock.json before an npm script runs, and ensures that the script runs on Node 24.
 * Takes a few milliseconds when nothing has to be done. It is plain JavaScript without packages because it runs before
 * packages are installed, on the Node of the machine.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePackages } from './install/bundles.mjs';
import { runExclusively } from './install/lock.mjs';
import { isComplete, isStamped, removeStamp, stamp } from './install/packages.mjs';
import { isLikelyUsable, makeUsable, REQUIRED_NODE } from './install/runtime.mjs';

const MIN_NODE = 20;
const root = fileURLToPath(new URL('..', import.meta.url));
/** A start needs no development packages, so an image can omit them. */
const forDevelopment = process.env.npm_lifecycle_event !== 'prestart';

const printLine = (text) => process.stderr.write(`${text}\n`);

function exitWithError(text, code = 1) {
  printLine(`\n${text}\n`);
  process.exit(code);
}

/** Starts the npm that runs this script, or else the one in PATH. */
function npm(args) {
  const cli = process.env.npm_execpath ?? '';
  const [command, first] = cli.endsWith('npm-cli.js')
    ? [process.env.npm_node_execpath ?? process.execPath, [cli]]
    : ['npm', []];
  // Standard output belongs to the following script, so the output of npm goes to standard error.
  return spawn(command, [...first, ...args], { cwd: root, stdio: ['ignore', 2, 2] });
}

/** Installs all package types, independent of the user's npm configuration. */
const CI = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--bin-links'];
/** The packages run on another Node than the installation, so engine warnings do not apply. */
const QUIET = ['--engine-strict=false', '--no-audit', '--no-fund', '--loglevel=error'];

async function install(onStart) {
  printLine('Installing the packages of package-lock.json (npm ci) …');
  const startedAt = performance.now();
  removeStamp(root);
  const child = npm([...CI, ...QUIET]);
  const ended = new Promise((resolve) => {
    child.once('error', (error) => exitWithError(`npm could not be started: ${error.message}`));
    child.once('close', resolve);
  });
  if (child.pid) onStart(child);
  const code = await ended;
  if (code !== 0)
    exitWithError(
      `npm ci failed (exit code ${code}).\nThe packages come from the npm registry or from npm's cache: ` +
        'see the message above, check the network or proxy settings of npm, and run this again.',
    );
  printLine(`Installed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

if (process.platform === 'win32')
  exitWithError('Windows is not supported. Use WSL, where this is a Linux machine.');
if (Number.parseInt(process.versions.node, 10) < MIN_NODE)
  exitWithError(`Node ${MIN_NODE} or newer is required to install; this is Node ${process.versions.node}.`);

if (!(isStamped(root) && isLikelyUsable(root))) {
  if (!isComplete(root, forDevelopment))
    await runExclusively(join(root, '.install.lock'), printLine, async (onStart) => {
      if (!isComplete(root, forDevelopment)) await install(onStart);
    });
  const problem = makeUsable(root);
  if (problem)
    exitWithError(
      `This service runs on Node ${REQUIRED_NODE} or newer. ${problem}\n` +
        `On Linux (x64 and arm64, glibc) the packages include it; on other systems install Node ${REQUIRED_NODE} (https://nodejs.org).`,
    );
  if (isComplete(root, true)) stamp(root);
}
bundlePackages(root);
