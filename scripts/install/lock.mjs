import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 100;
const HEARTBEAT_MS = 2_000;
/** A holder on another host proves that it lives by touching the file. On this host its process is checked. */
const SILENCE_MS = 20_000;

/**
 * Waits for the lock file and runs `work` while it is held. `work` passes a child process to its argument: the lock is
 * then held until both processes end, and the child is killed when this process ends.
 */
export async function runExclusively(file, printLine, work) {
  const holders = [describe(process.pid)];
  await acquire(file, JSON.stringify(holders), printLine);
  let child;
  let heartbeat = setInterval(() => utimesSync(file, new Date(), new Date()), HEARTBEAT_MS);
  const release = () => {
    if (!heartbeat) return;
    clearInterval(heartbeat);
    heartbeat = undefined;
    child?.kill();
    rmSync(file, { force: true });
  };
  // Also release when the work or the user ends the process.
  process.once('exit', release);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  try {
    await work((started) => {
      child = started;
      holders.push(describe(child.pid));
      writeFileSync(file, JSON.stringify(holders));
    });
  } finally {
    release();
  }
}

const describe = (pid) => ({ pid, host: hostname(), startedAt: startTimeOf(pid) });

async function acquire(file, holdersJson, printLine) {
  let seen;
  let seenAt = 0;
  while (!createLock(file, holdersJson)) {
    const now = readLock(file);
    if (now?.text !== seen?.text || now?.touched !== seen?.touched) {
      if (now && !seen) printLine(`Another process holds ${file}; waiting for it …`);
      seen = now;
      seenAt = performance.now();
    }
    if (seen && isAbandoned(seen, performance.now() - seenAt))
      removeAbandoned(file, seen, performance.now() - seenAt);
    await delay(POLL_MS);
  }
}

function createLock(file, text) {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function readLock(file) {
  try {
    return { text: readFileSync(file, 'utf8'), touched: statSync(file).mtimeMs };
  } catch {
    return undefined;
  }
}

function isAbandoned({ text }, silence) {
  try {
    const holders = JSON.parse(text);
    if (holders[0].host === hostname())
      return holders.every(({ pid, startedAt }) => startTimeOf(pid) !== startedAt);
  } catch {
    // Partially written: wait for its writer to finish.
  }
  return silence > SILENCE_MS;
}

/** Removes an abandoned lock, unless another waiter has replaced it with its own lock meanwhile. */
function removeAbandoned(file, abandoned, silence) {
  const guard = `${file}.clearing`;
  try {
    mkdirSync(guard);
  } catch {
    // The guard is held only briefly, unless its holder was killed meanwhile.
    if (silence > SILENCE_MS) rmSync(guard, { recursive: true, force: true });
    return;
  }
  try {
    const now = readLock(file);
    if (now?.text === abandoned.text && now.touched === abandoned.touched) rmSync(file, { force: true });
  } finally {
    rmSync(guard, { recursive: true, force: true });
  }
}

/** Returns the start time of a process in a system-specific unit. With the pid it identifies the process. Empty when it has ended. */
function startTimeOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' ');
    return fields[0] === 'Z' ? '' : fields[19];
  } catch {
    if (process.platform === 'linux') return '';
    return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? '';
  }
}
