import { type ChildProcess, spawn } from 'node:child_process';

/** Small systems have no ps, and others no /proc. */
const WATCH = `read -r _
case "$(cat "/proc/$0/comm" 2>/dev/null || ps -o comm= -p "$0")" in *postgres*) kill -INT "$0" ;; esac`;

/**
 * Where the kernel cannot tell a child that its parent has died, a small shell does: it reads from a pipe that
 * ends with this process, however that ends, and then asks the server to stop. Its limits: a server that is
 * started in the very moment in which this process is killed stays, and so does one whose shell was killed
 * before. The next start finds such a server by its postmaster.pid and stops it.
 */
export function stopAfterUs(server: ChildProcess): void {
  if (server.pid === undefined) return;
  const shell = spawn('/bin/sh', ['-c', WATCH, String(server.pid)], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  server.once('exit', () => shell.kill('SIGKILL'));
}
