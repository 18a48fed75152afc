import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const LIBRARIES =
  /node_modules[\\/](@base-ui|@floating-ui|@tanstack|lucide-react|react|react-dom|scheduler)[\\/]/;
const SHARED = /console[\\/](api|gen|ui|parts)[\\/]/;
/** Modules that few pages use, and those of the Markdown chunk, which loads with the first message. */
const SEPARATE =
  /console[\\/]parts[\\/](connections|diff|editor|extensions|files|mcp|secrets|text[\\/](gfm|heading-levels|markdown-|use-steady-text))/;

/** Dialogs and what the file browser needs of the controls. */
const DIALOGS =
  /console[\\/](ui[\\/](confirm-dialog|dialog|field|progress)|parts[\\/]actions[\\/]confirm-action|api[\\/](send-request|upload))\.|react-virtual/;

/** Controls that the views of a session do not need at first: the popover of the context, and radio buttons of forms. */
const LATE_CONTROLS =
  /@base-ui[\\/]react[\\/](meter|popover|radio|radio-group)[\\/]|console[\\/]ui[\\/](popover|radio-options)\./;

const isLibrary = (id: string) => LIBRARIES.test(id);
const isShared = (id: string) => SHARED.test(id) && !SEPARATE.test(id);

/** The frame of every page, and the pages with the smallest and the largest first load. */
const FIRST_PAGES = [
  'main.tsx',
  'pages/home/home.tsx',
  'pages/sessions/session.tsx',
  'pages/sessions/chat/chat.tsx',
].map((path) => fileURLToPath(new URL(path, import.meta.url)));

interface ModuleGraph {
  getModuleInfo: (id: string) => { importedIds: readonly string[] } | null;
}

/** Returns these modules and all modules that they import statically, directly or indirectly. */
function staticImports(roots: readonly string[], graph: ModuleGraph): Set<string> {
  const found = new Set(roots);
  for (const id of found)
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  return found;
}

/**
 * Returns the groups of modules that are one chunk each: the libraries and the shared modules of the first pages, and two
 * that the first pages do not load: the dialogs, and the controls of lists and forms. Other modules are divided automatically.
 */
function chunkGroups() {
  let early: ReadonlySet<string> | undefined;
  const isEarly = (id: string, graph: ModuleGraph) => {
    early ??= staticImports(FIRST_PAGES, graph);
    return early.has(id);
  };
  const earlyGroup = (name: string, matches: (id: string) => boolean, priority: number) => ({
    name: (id: string, graph: ModuleGraph) => (matches(id) && isEarly(id, graph) ? name : null),
    priority,
  });
  return [
    // A group also takes the dependencies of its modules, so a group comes after the groups that it imports.
    earlyGroup('library', isLibrary, 4),
    earlyGroup('shared', isShared, 3),
    { name: 'dialogs', test: (id: string) => DIALOGS.test(id), priority: 2 },
    {
      name: 'controls',
      test: (id: string) => (isLibrary(id) || isShared(id)) && !LATE_CONTROLS.test(id),
      priority: 1,
    },
  ];
}

export default defineConfig({
  plugins: [react(), tailwind()],
  build: {
    // The first versions that support light-dark(), CSS nesting and the other features in use.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // The Content Security Policy forbids inline assets.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // A browser opens six connections to the edge, so a few large chunks load faster than many small ones.
        codeSplitting: { groups: chunkGroups() },
      },
    },
    reportCompressedSize: false,
    // In KiB, before compression to less than a third.
    chunkSizeWarningLimit: 800,
  },
});
