import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react(), tailwind()],
  build: {
    // As of these, browsers know light-dark(), nesting and everything else that is written here.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // Nothing is put into the page itself: its policy lets nothing of that kind run.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
