import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { SandboxError } from '../../sandbox/sandbox-error.ts';
import type { Programs, VolumePrograms } from './programs.ts';

interface NamespaceHolder extends AsyncDisposable {
  pid: number;
}

/**
 * Starts a process in a new mount namespace, in which `directory` is a mount point of its own. Mounts of the machine
 * appear in the namespace, and mounts in it do not appear on the machine. Mounts below `directory` appear in the
 * namespaces that bubblewrap creates from it. Throws a SandboxError.
 */
export async function startNamespaceHolder(
  directory: string,
  { unshare, mount, bash }: Programs & VolumePrograms,
): Promise<NamespaceHolder> {
  const script = '"$1" --bind -- "$2" "$2" && "$1" --make-shared -- "$2" && echo ready && read';
  const argv = ['--mount', '--propagation', 'slave', bash, '--norc', '-c', script, 'bash', mount, directory];
  const child = spawn(unshare, argv, { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stdin.on('error', () => {});
  child.stderr.on('data', (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  const closed = once(child, 'close');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.stdout.once('data', () => resolve());
  child.once('error', reject);
  closed.then(
    () => reject(new SandboxError(stderr.trim() || 'the mount namespace could not be created')),
    reject,
  );
  await promise;
  return {
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await closed;
    },
  };
}
