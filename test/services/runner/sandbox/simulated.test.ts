import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../lib/clock.ts';
import { Ground } from '../../../../services/runner/sandbox/place.ts';
import { simulatedProvider } from '../../../../services/runner/sandbox/simulated/provider.ts';
import { conforms } from './conformance.ts';
import { Sandboxes, sh, specOf, workspaceOf } from './shell.ts';
import { bytes, PLAIN } from './workspace.ts';

function openSimulated() {
  const base = mkdtempSync(join(tmpdir(), 'ahs-simulated-'));
  const make = () => simulatedProvider({ ground: new Ground(join(base, 'sandboxes')), clock: systemClock });
  return {
    base,
    provider: make(),
    reopen: async () => make(),
    close: async () => rmSync(base, { recursive: true, force: true }),
  };
}

conforms('the simulated provider', async () => openSimulated());

describe('the simulated provider', () => {
  it('shows nothing of this machine but the workspace, temporary files and a home', async () => {
    const { provider, base, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    await using made = new Sandboxes(provider);
    const sandbox = await made.make();
    const tree = await sandbox.workspace(workspaceOf(sandbox));
    await tree.putSymlink('passwords', '/etc/passwd');
    await tree.putSymlink('up', `${'../'.repeat(20)}etc/passwd`);
    await tree.putSymlink('out', base);
    await tree.putFile('file', bytes('x'), PLAIN);
    const script =
      'cat passwords; cat up; ls out; cat /etc/passwd; cat /proc/1/environ; ls /; env; cat ../../../../etc/passwd';
    const { stdout, stderr } = await sh(sandbox, script);
    expect(stdout).toContain('workspace');
    expect(stdout + stderr).not.toContain('root:');
    expect(stdout + stderr).not.toContain(base);
    for (const name of Object.keys(process.env).filter((one) => /^(npm_|VITEST|SERVICE_|NODE)/.test(one)))
      expect(stdout).not.toContain(name);
  });

  it('starts no program and knows no network', async () => {
    const { provider, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    await using made = new Sandboxes(provider);
    const sandbox = await made.make();
    for (const name of ['node', 'python3', 'curl', 'nc', 'js-exec'])
      expect((await sh(sandbox, `${name} --version`)).end.exitCode).toBe(127);
  });

  it('leaves nothing to the next command but files', async () => {
    const { provider, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    await using made = new Sandboxes(provider);
    const [one, other] = await Promise.all([made.make(), made.make()]);
    await sh(
      one,
      'export SECRET=1; f() { :; }; alias x=ls; cd /tmp; echo secret > /dev/secret; echo secret > /bin/secret',
    );
    const { stdout } = await sh(other, 'echo "<$SECRET>"; f; x; pwd; cat /dev/secret /bin/secret');
    expect(stdout).toBe('<>\n/workspace\n');
  });

  it('removes links, wherever they lead', async () => {
    const { provider, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    await using made = new Sandboxes(provider);
    const sandbox = await made.make();
    const links = 'mkdir d; touch d/f; ln -s nowhere a; ln -s d b; ln -s nowhere c; ln -s d/f e';
    expect((await sh(sandbox, `${links}; rm a b; rm -f c; rm -r e; ls; ls d`)).stdout).toBe('d\nf\n');
    const { stdout, stderr } = await sh(sandbox, 'ln -s nowhere a; rm a gone d; echo $?; ls');
    expect(stdout).toBe('1\nd\n');
    expect(stderr).toBe(
      "rm: cannot remove 'gone': No such file or directory\nrm: cannot remove 'd': Is a directory\n",
    );
  });

  it('makes directories in any depth, and none through a file', async () => {
    const { provider, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    await using made = new Sandboxes(provider);
    const sandbox = await made.make();
    const deep = Array.from({ length: 100 }, (_, i) => `d${i}`).join('/');
    const script = `mkdir -p ${deep}; echo x > ${deep}/f; cat ${deep}/f; touch g; ln -s d0 l; mkdir -p l/new; ls d0`;
    expect((await sh(sandbox, script)).stdout).toBe('x\nd1\nnew\n');
    const { stderr, end } = await sh(sandbox, 'mkdir -p g/h');
    expect(stderr).toMatch(/^mkdir: cannot create directory 'g\/h': .*not a directory/i);
    expect(end.exitCode).toBe(1);
  });

  it('leaves nothing behind', async () => {
    const { provider, base, close } = openSimulated();
    await using _ = { [Symbol.asyncDispose]: close };
    const sandbox = await provider.create(specOf());
    await sh(sandbox, 'mkdir -p a/b; echo > a/b/c');
    await sandbox.destroy();
    expect(readdirSync(join(base, 'sandboxes'), { recursive: true })).toEqual(['.trash']);
  });
});
