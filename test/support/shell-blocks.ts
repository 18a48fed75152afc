interface ShellBlock {
  /** The words after ```sh: `external` for a block that needs another service or starts this one. */
  mark: string;
  text: string;
}

/** Returns the shell blocks of a Markdown page. */
export function shellBlocks(page: string): ShellBlock[] {
  return [...page.matchAll(/^```sh(?<mark>[^\n]*)\n(?<text>.*?)^```$/gms)].map(({ groups }) => ({
    mark: (groups?.mark ?? '').trim(),
    text: groups?.text ?? '',
  }));
}

/** Fails at the first command that fails, and at the first response with an error status. */
const PROLOGUE = `set -euo pipefail
curl() { command curl --fail-with-body "$@"; }
TOKEN=local-mode-ignores-tokens
`;

/** Returns a script of all blocks that need nothing but the running service; empty when there are none. */
export function runnableScript(blocks: readonly ShellBlock[]): string {
  const texts = blocks.flatMap(({ mark, text }) => (mark === '' ? [text] : []));
  return texts.length === 0 ? '' : PROLOGUE + texts.join('\n');
}
