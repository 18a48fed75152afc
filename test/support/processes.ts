import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ProcessEntry {
  pid: number;
  parent: number;
  /** Z for one that has ended and that nobody has asked about yet. */
  state: string;
  command: string;
}

/** All processes of this machine. Small systems have no ps, and others no /proc. */
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

/** Whether a process runs; one that has ended and that nobody has asked about yet does not. */
export function isAlive(pid: number | undefined): boolean {
  return processes().some((entry) => entry.pid === pid && !entry.state.startsWith('Z'));
}
