import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 100;
const BEAT_MS = 2_000;
/** A holder on another host shows by touching the file that it lives; here its process is asked for. */
const SILENCE_MS = 20_000;

/**
 * Runs `work` while no other process does so under the same lock file; waits for its turn. A child process that does
 * the work is handed to the function that `work` gets: the lock stands until both have ended, and it ends with us.
 */
export async function alone(file, say, work) {
  const holders = [describe(process.pid)];
  await take(file, JSON.stringify(holders), say);
  let child;
  let beat = setInterval(() => utimesSync(file, new Date(), new Date()), BEAT_MS);
  const release = () => {
    if (!beat) return;
    clearInterval(beat);
    beat = undefined;
    child?.kill();
    rmSync(file, { force: true });
  };
  // Also when the work ends the process, or the user does.
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

const describe = (pid) => ({ pid, host: hostname(), begun: beginOf(pid) });

async function take(file, me, say) {
  let seen;
  let seenAt = 0;
  while (!create(file, me)) {
    const now = look(file);
    if (now?.text !== seen?.text || now?.touched !== seen?.touched) {
      if (now && !seen) say(`Another process holds ${file}; waiting for it …`);
      seen = now;
      seenAt = performance.now();
    }
    if (seen && isAbandoned(seen, performance.now() - seenAt)) clear(file, seen, performance.now() - seenAt);
    await delay(POLL_MS);
  }
}

function create(file, text) {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function look(file) {
  try {
    return { text: readFileSync(file, 'utf8'), touched: statSync(file).mtimeMs };
  } catch {
    return undefined;
  }
}

function isAbandoned({ text }, silence) {
  try {
    const holders = JSON.parse(text);
    if (holders[0].host === hostname()) return holders.every(({ pid, begun }) => beginOf(pid) !== begun);
  } catch {
    // Half-written: its writer has a moment to finish.
  }
  return silence > SILENCE_MS;
}

/** One at a time, and only what was judged: another waiter may have put its own lock there meanwhile. */
function clear(file, judged, silence) {
  const guard = `${file}.clearing`;
  try {
    mkdirSync(guard);
  } catch {
    // Held for an instant only, unless its holder was killed in that instant.
    if (silence > SILENCE_MS) rmSync(guard, { recursive: true, force: true });
    return;
  }
  try {
    const now = look(file);
    if (now?.text === judged.text && now.touched === judged.touched) rmSync(file, { force: true });
  } finally {
    rmSync(guard, { recursive: true, force: true });
  }
}

/** When a process began, in whatever unit: together with its number that names it for good. Empty when it is gone. */
function beginOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' ');
    return fields[0] === 'Z' ? '' : fields[19];
  } catch {
    if (process.platform === 'linux') return '';
    return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? '';
  }
}
