import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DirectoryProblem } from '../../lib/directory.ts';
import { readOrCreateSecret } from '../../lib/secrets.ts';

const root = mkdtempSync(join(tmpdir(), 'secrets-'));
const fresh = () => mkdtempSync(join(root, 'd-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('readOrCreateSecret', () => {
  it('creates a secret of the requested size once per name and directory', async () => {
    const [a, b] = [fresh(), fresh()];
    const sealing = await readOrCreateSecret(a, 'sealing');
    expect(Buffer.from(sealing, 'base64url')).toHaveLength(32);
    expect(await readOrCreateSecret(a, 'sealing')).toBe(sealing);
    expect(await readOrCreateSecret(a, 'peers')).not.toBe(sealing);
    expect(await readOrCreateSecret(b, 'sealing')).not.toBe(sealing);
    expect(Buffer.from(await readOrCreateSecret(a, 'short', 16), 'base64url')).toHaveLength(16);
  });

  it('stores the secret in a file that only its user can read, without leftovers', async () => {
    const directory = fresh();
    await readOrCreateSecret(directory, 'sealing');
    expect(statSync(join(directory, 'secrets')).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'secrets', 'sealing')).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(directory, 'secrets'))).toEqual(['sealing']);
  });

  it('returns the same secret to concurrent callers', async () => {
    const directory = fresh();
    const module = JSON.stringify(join(import.meta.dirname, '../../lib/secrets.ts'));
    const program = `import { readOrCreateSecret } from ${module};
      const all = await Promise.all(Array.from({ length: 20 }, () => readOrCreateSecret(${JSON.stringify(directory)}, 'one')));
      console.log([...new Set(all)].join());`;
    const outputs = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const [text] = await once(child.stdout, 'data');
        await once(child, 'close');
        return String(text).trim();
      }),
    );
    expect(new Set(outputs)).toEqual(new Set([await readOrCreateSecret(directory, 'one')]));
  });

  it('refuses a file that other users can read', async () => {
    const directory = fresh();
    const secret = await readOrCreateSecret(directory, 'sealing');
    const file = join(directory, 'secrets', 'sealing');
    chmodSync(file, 0o640);
    const reading = readOrCreateSecret(directory, 'sealing');
    await expect(reading).rejects.toBeInstanceOf(DirectoryProblem);
    await expect(reading).rejects.toMatchObject({ path: file, fix: `chmod 600 ${file}` });
    await expect(reading).rejects.toThrow('can be read by others (mode 640)');
    chmodSync(file, 0o600);
    expect(await readOrCreateSecret(directory, 'sealing')).toBe(secret);
  });

  it.each([
    ['empty', ''],
    ['too short', 'AAAA'],
    ['not base64url', '%'.repeat(60)],
  ])('refuses a file that is %s', async (_what, content) => {
    const directory = fresh();
    mkdirSync(join(directory, 'secrets'));
    writeFileSync(join(directory, 'secrets', 'sealing'), content, { mode: 0o600 });
    await expect(readOrCreateSecret(directory, 'sealing')).rejects.toThrow('does not contain the secret');
  });

  it('refuses a directory in place of the file', async () => {
    const directory = fresh();
    mkdirSync(join(directory, 'secrets', 'sealing'), { recursive: true });
    await expect(readOrCreateSecret(directory, 'sealing')).rejects.toThrow('is not a file');
  });

  it('refuses a name that is a path', async () => {
    await expect(readOrCreateSecret(fresh(), '../outside')).rejects.toThrow(TypeError);
  });
});
