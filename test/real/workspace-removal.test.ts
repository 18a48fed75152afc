import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeBubblewrap } from '../services/runner/sandbox/bubblewrap-suite.ts';
import { ids, runScript } from '../services/runner/sandbox/run-script.ts';
import { bytes, PLAIN } from '../services/runner/sandbox/workspace-fixture.ts';

/** Returns the images below a directory that back loop devices of this machine. */
function attachedImages(directory: string): string[] {
  return readdirSync('/sys/block').flatMap((device) => {
    try {
      const image = readFileSync(`/sys/block/${device}/loop/backing_file`, 'utf8').trim();
      return image.includes(directory) ? [image] : [];
    } catch {
      // Not a loop device, or one without an image.
      return [];
    }
  });
}

describeBubblewrap('the removal of a workspace', (given) => {
  it('releases its volume while a command runs in another workspace of the sandbox', async () => {
    const sandbox = await given.sandboxes.create();
    const [removed, used] = [ids('wsp'), ids('wsp')];
    const tree = await sandbox.workspace(removed);
    await tree.putFile('old', bytes('old'), PLAIN);
    await runScript(sandbox, 'cat old > copy', { workspaceId: removed });
    const volumes = () => attachedImages(sandbox.sandboxId).length;
    const hasVolumes = sandbox.limits.workspaceMib.method === 'loop file system';
    const abort = new AbortController();
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const running = sandbox.run({
      script: 'echo started; read line < <(sleep 1000)',
      workspaceId: used,
      timeoutMs: 60_000,
      signal: abort.signal,
      maxOutputBytes: 1_000,
      output: () => resolve(),
    });
    await started;
    expect(volumes()).toBe(hasVolumes ? 2 : 0);
    await sandbox.removeWorkspace(removed);
    expect(volumes()).toBe(hasVolumes ? 1 : 0);
    expect((await runScript(sandbox, 'ls -A', { workspaceId: removed })).stdout).toBe('');
    abort.abort();
    expect((await running).cause).toBe('stopped');
  });
});
