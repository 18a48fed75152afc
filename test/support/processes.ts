import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ProcessEntry {
  pid: number;
  parent: number;
  /** Process state; Z for a zombie that its parent has not reaped. */
  state: string;
  command: string;
}

/** Returns all processes of this machine, from /proc where it exists, otherwise from ps. */
export function processes(): ProcessEntry[] {
  if (!existsSync('/proc/self/stat')) {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args=']).toString().trim().split('\n');
    return lines.map((line) => {
      const [pid, parent, state = '', ...command] = line.trim().split(/\s+/);
      return { pid: Number(pid), parent: Number(parent), state, command: command.join(' ') };
    });
  }
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').join(' ').trim();
      return [{ pid: Number(name), parent: Number(parent), state, command }];
    } catch {
      return [];
    }
  });
}

/** Whether a process is running. A zombie is not. */
export function isAlive(pid: number | undefined): boolean {
  return processes().some((entry) => entry.pid === pid && !entry.state.startsWith('Z'));
}

/** Returns the environment and the arguments of the processes and of all processes that they have started. */
export function processTexts(pids: readonly number[]): { name: string; content: Buffer }[] {
  return descendantsOf(pids).flatMap((pid) =>
    ['environ', 'cmdline'].map((name) => ({ name: `${pid} ${name}`, content: read(`/proc/${pid}/${name}`) })),
  );
}

function descendantsOf(pids: readonly number[]): number[] {
  const all = processes();
  const found = new Set(pids);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

/** Empty for a process that has just ended. */
function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
