import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DirectoryProblem } from '../../lib/directory.ts';
import { keptSecret } from '../../lib/secrets.ts';

const root = mkdtempSync(join(tmpdir(), 'secrets-'));
const fresh = () => mkdtempSync(join(root, 'd-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('keptSecret', () => {
  it('is made once, differs by name and directory, and has the wanted size', async () => {
    const [a, b] = [fresh(), fresh()];
    const sealing = await keptSecret(a, 'sealing');
    expect(Buffer.from(sealing, 'base64url')).toHaveLength(32);
    expect(await keptSecret(a, 'sealing')).toBe(sealing);
    expect(await keptSecret(a, 'peers')).not.toBe(sealing);
    expect(await keptSecret(b, 'sealing')).not.toBe(sealing);
    expect(Buffer.from(await keptSecret(a, 'short', 16), 'base64url')).toHaveLength(16);
  });

  it('lies in a file that only its user can read, with nothing beside it', async () => {
    const directory = fresh();
    await keptSecret(directory, 'sealing');
    expect(statSync(join(directory, 'secrets')).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'secrets', 'sealing')).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(directory, 'secrets'))).toEqual(['sealing']);
  });

  it('is the same for all who make it at the same time', async () => {
    const directory = fresh();
    const module = JSON.stringify(join(import.meta.dirname, '../../lib/secrets.ts'));
    const program = `import { keptSecret } from ${module};
      const all = await Promise.all(Array.from({ length: 20 }, () => keptSecret(${JSON.stringify(directory)}, 'one')));
      console.log([...new Set(all)].join());`;
    const said = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const [text] = await once(child.stdout, 'data');
        await once(child, 'close');
        return String(text).trim();
      }),
    );
    expect(new Set(said)).toEqual(new Set([await keptSecret(directory, 'one')]));
  });

  it('is refused when others can read it', async () => {
    const directory = fresh();
    const secret = await keptSecret(directory, 'sealing');
    const file = join(directory, 'secrets', 'sealing');
    chmodSync(file, 0o640);
    const reading = keptSecret(directory, 'sealing');
    await expect(reading).rejects.toBeInstanceOf(DirectoryProblem);
    await expect(reading).rejects.toMatchObject({ path: file, fix: `chmod 600 ${file}` });
    await expect(reading).rejects.toThrow('can be read by others (mode 640)');
    chmodSync(file, 0o600);
    expect(await keptSecret(directory, 'sealing')).toBe(secret);
  });

  it.each([
    ['empty', ''],
    ['too short', 'AAAA'],
    ['not base64url', '%'.repeat(60)],
  ])('is refused when the file is %s', async (_what, content) => {
    const directory = fresh();
    mkdirSync(join(directory, 'secrets'));
    writeFileSync(join(directory, 'secrets', 'sealing'), content, { mode: 0o600 });
    await expect(keptSecret(directory, 'sealing')).rejects.toThrow('does not hold the secret');
  });

  it('is refused when something else lies in its place', async () => {
    const directory = fresh();
    mkdirSync(join(directory, 'secrets', 'sealing'), { recursive: true });
    await expect(keptSecret(directory, 'sealing')).rejects.toThrow('is not a file');
  });

  it('has a plain name', async () => {
    await expect(keptSecret(fresh(), '../outside')).rejects.toThrow(TypeError);
  });
});
