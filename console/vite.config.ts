import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** What every page stands on. Markdown comes with the first message, by itself. */
const LIBRARIES =
  /node_modules[\\/](@base-ui|@floating-ui|@tanstack|lucide-react|react|react-dom|scheduler)[\\/]/;
const SHARED = /console[\\/](api|gen|ui|parts[\\/](?!(diff|editor|files)[\\/]|text[\\/]markdown-text))/;

export default defineConfig({
  plugins: [react(), tailwind()],
  build: {
    // As of these, browsers know light-dark(), nesting and everything else that is written here.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // Nothing is put into the page itself: its policy lets nothing of that kind run.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // A browser speaks to the edge over six connections: a few large parts are there before many small ones.
        codeSplitting: {
          groups: [
            { name: 'library', test: LIBRARIES },
            { name: 'shared', test: SHARED },
          ],
        },
      },
    },
    reportCompressedSize: false,
    // Of text that is compressed to less than a third.
    chunkSizeWarningLimit: 800,
  },
});
