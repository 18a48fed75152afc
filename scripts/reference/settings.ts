import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Declaration, Setting } from '../../lib/env.ts';
import { root } from '../tool.ts';
import { page, table } from './table.ts';

const INTRODUCTION = `Settings are environment variables, read once at the start; all that is wrong is printed at
once. A secret can also be handed over as a file: put \`_FILE\` behind its name and the path as its value.`;

/** One table for each config.ts, in the order of their paths. */
export async function renderSettings(): Promise<string> {
  const paths = (
    await Array.fromAsync(glob(['services/*/config.ts', 'edge/config.ts'], { cwd: root }))
  ).sort();
  if (paths.length === 0) throw new Error('no config.ts was found');
  const sections = await Promise.all(paths.map(section));
  return page('Settings', 'the config.ts of each module', [INTRODUCTION, ...sections]);
}

async function section(path: string): Promise<string> {
  const { settings }: { settings?: Declaration } = await import(pathToFileURL(join(root, path)).href);
  if (!settings) throw new Error(`${path} exports no settings`);
  const title = path.replace(/^services\//, '').replace(/\/config\.ts$/, '');
  const rows = Object.values(settings).map((one) => [
    `\`${one.variable}\``,
    one.expected,
    shownDefault(one),
    one.about,
  ]);
  return `## ${title}\n\n${table(['variable', 'expected', 'default', 'what it does'], rows)}`;
}

function shownDefault({ shownDefault: shown, optional, secret }: Setting<unknown>): string {
  const note = secret ? ' (secret)' : '';
  if (shown !== undefined && shown !== '') return `\`${shown}\`${note}`;
  return (optional || shown === '' ? 'none' : 'required') + note;
}
