import { type ChildProcess, spawn } from 'node:child_process';

/** Some systems have no ps and others no /proc. */
const WATCH = `read -r _
case "$(cat "/proc/$0/comm" 2>/dev/null || ps -o comm= -p "$0")" in *postgres*) kill -INT "$0" ;; esac`;

/**
 * Stops the server when this process dies, for systems whose kernel cannot signal the death of a parent. A shell reads
 * from a pipe that closes with this process and then interrupts the server. A server survives if this process is killed
 * at the moment of its start or if the shell was killed before. The next start finds such a server by its postmaster.pid
 * and stops it.
 */
export function stopWithParent(server: ChildProcess): void {
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
