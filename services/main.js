import { enableCompileCache } from './bootstrap/compile-cache.js';

// Before any other module is loaded. An import statement would load the module before this line.
enableCompileCache();
const { main } = await import('./bootstrap/main.ts');
await main();
