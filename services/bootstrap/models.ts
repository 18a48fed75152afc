import type { SettingProblem } from '../../lib/env.ts';
import type { ModelsFileProblem } from '../../lib/models/parse-models.ts';
import type { ModelTable } from '../../lib/models/table.ts';
import type { ProcessConfig } from './process-config.ts';
import { modulesOf } from './target.ts';

/** Returns the problems of SERVICE_MODELS_FILE, if a module of this process uses it. */
export async function checkModelsFile(config: ProcessConfig): Promise<SettingProblem[]> {
  const { modelsFile } = config.common;
  const modules = modulesOf(config.target);
  if (modelsFile === undefined || !(modules.includes('agents') || modules.includes('runner'))) return [];
  const { problems } = await readFileOfModels(modelsFile);
  return problems.map((problem) => ({
    variable: 'SERVICE_MODELS_FILE',
    problem: `("${modelsFile}") ${placeOf(problem)}${problem.message}`,
    expected: 'a YAML or JSON file with a list of models, as docs/how-to/models.md describes it',
    fix: problem.line === 0 ? 'name a file that this user can read' : 'correct the entry, or remove it',
  }));
}

/** Returns the table of models. Rejects if the file has become invalid since the start was checked. */
export async function openModelTable({ common: { modelsFile } }: ProcessConfig): Promise<ModelTable> {
  const { createModelTable } = await import('../../lib/models/table.ts');
  if (modelsFile === undefined) return createModelTable();
  const { entries, problems } = await readFileOfModels(modelsFile);
  const [problem] = problems;
  if (problem) throw new Error(`${modelsFile}: ${placeOf(problem)}${problem.message}`);
  return createModelTable(entries);
}

/** Most targets have no models, and do not load their code. */
async function readFileOfModels(path: string) {
  const { readModelsFile } = await import('../../lib/models/models-file.ts');
  return readModelsFile(path);
}

function placeOf({ line, field }: ModelsFileProblem): string {
  if (line === 0) return '';
  return field === '' ? `line ${line} ` : `line ${line}, ${field} `;
}
