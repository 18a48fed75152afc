import { enableCompileCache } from './bootstrap/compile-cache.ts';

// Before any other module is loaded. An import statement would load the module before this line.
enableCompileCache();
await import('./bootstrap/main.ts');
