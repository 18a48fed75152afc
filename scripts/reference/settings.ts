import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Declaration, Setting } from '../../lib/env.ts';
import { root } from '../tool.ts';
import { page, table } from './table.ts';

interface Module {
  name: string;
  settings: Setting<unknown>[];
}

const INTRODUCTION = `Settings are environment variables that are read once at the start. All invalid settings are reported
together. A secret can also be read from a file: append \`_FILE\` to the name of its variable and set that to the path.`;

/** These modules come first; the others follow in alphabetical order. */
const FIRST = ['bootstrap', 'edge'];

/** Renders one table for each config.ts. */
export async function renderSettings(): Promise<string> {
  const paths = await Array.fromAsync(glob(['services/*/config.ts', 'edge/config.ts'], { cwd: root }));
  const modules = await Promise.all(paths.map(load));
  if (modules.length === 0) throw new Error('no config.ts was found');
  assertOneMeaning(modules);
  modules.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
  return page('Settings', 'the config.ts of each module', [INTRODUCTION, ...modules.map(section)]);
}

async function load(path: string): Promise<Module> {
  const { settings }: { settings?: Declaration } = await import(pathToFileURL(join(root, path)).href);
  if (!settings) throw new Error(`${path} exports no settings`);
  return { name: path.split('/').at(-2) ?? '', settings: Object.values(settings) };
}

/** Modules can share a variable if they declare the same form and default. */
function assertOneMeaning(modules: Module[]): void {
  const seen = new Map<string, string>();
  for (const { variable, expected, shownDefault } of modules.flatMap((one) => one.settings)) {
    const meaning = JSON.stringify([expected, shownDefault]);
    if ((seen.get(variable) ?? meaning) !== meaning) throw new Error(`${variable} is declared in two ways`);
    seen.set(variable, meaning);
  }
}

function rank({ name }: Module): number {
  return FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length;
}

function section({ name, settings }: Module): string {
  const rows = settings.map((one) => [`\`${one.variable}\``, one.expected, fallbackOf(one), one.about]);
  return `## ${name}\n\n${table(['variable', 'expected', 'default', 'description'], rows)}`;
}

function fallbackOf({ shownDefault, optional, secret }: Setting<unknown>): string {
  const note = secret ? ' (secret)' : '';
  if (shownDefault) return `\`${shownDefault}\`${note}`;
  return (optional || shownDefault === '' ? 'none' : 'required') + note;
}
