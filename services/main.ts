import { enableCompileCache } from './bootstrap/compile-cache.ts';

// Before any other module is loaded. An import statement would load the module before this line.
enableCompileCache();
const { startsOneService } = await import('./bootstrap/target.ts');
if (startsOneService(process.argv.slice(2))) {
  const { limitYoungGeneration } = await import('./bootstrap/young-generation.ts');
  limitYoungGeneration();
}
await import('./bootstrap/main.ts');
