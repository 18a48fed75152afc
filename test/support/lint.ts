import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Runs the product's lint rules over these files (text by path). Returns the number of findings in each file whose message
 * contains `message`.
 */
export async function lint(
  files: Readonly<Record<string, string>>,
  message: string,
): Promise<Map<string, number>> {
  const base = await mkdtemp(join(tmpdir(), 'lint-'));
  try {
    const config = JSON.parse(await readFile(join(ROOT, 'biome.json'), 'utf8'));
    await writeFile(join(base, 'biome.json'), JSON.stringify({ ...config, $schema: undefined }));
    await cp(join(ROOT, 'scripts/lint'), join(base, 'scripts/lint'), { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(base, path)), { recursive: true });
      await writeFile(join(base, path), `${text}\n`);
    }
    return count(await diagnosticsOf(base), message);
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

interface Diagnostic {
  message: string;
  location: { path: string };
}

async function diagnosticsOf(base: string): Promise<Diagnostic[]> {
  // Biome ends with a failure when it has findings.
  const { stdout } = await promisify(execFile)(
    join(ROOT, 'node_modules/.bin/biome'),
    ['lint', '--reporter=json', '--max-diagnostics=none', '.'],
    { cwd: base, maxBuffer: 16 * 1024 ** 2 },
  ).catch((error) => error);
  return JSON.parse(stdout).diagnostics;
}

function count(diagnostics: Diagnostic[], text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { message, location } of diagnostics)
    if (message.includes(text)) counts.set(location.path, (counts.get(location.path) ?? 0) + 1);
  return counts;
}
