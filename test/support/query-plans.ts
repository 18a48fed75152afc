import { declaredStatements } from '../../lib/db/database.ts';
import { sqlState } from '../../lib/db/failure.ts';
import { roleOf } from '../../lib/db/roles.ts';
import { rowsOn } from './sql.ts';

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: Node[];
}

/** Reads PostgreSQL's plans of the statements of one schema, as the service or as `viewer`. */
export function queryPlansOf(databaseUrl: string, schema: string, viewer?: string) {
  const options = `-c search_path=${schema} -c enable_bitmapscan=off`;
  const urlWith = (more: string) => `${databaseUrl}?options=${encodeURIComponent(options + more)}`;

  async function address(): Promise<string> {
    if (viewer === undefined) return urlWith('');
    const name = `select '${roleOf(schema, 'viewer')}_' || oid as role from pg_database where datname = current_database()`;
    const [row] = await rowsOn<{ role: string }>(databaseUrl, name);
    return urlWith(` -c role=${row?.role} -c ahs.viewer=${viewer}`);
  }

  /** Undefined for a statement without permission. */
  async function explain(how: string, text: string): Promise<Node | undefined> {
    try {
      const [row] = await rowsOn<{ 'QUERY PLAN': { Plan: Node }[] }>(
        await address(),
        `explain (${how}, format json) ${text}`,
      );
      return row?.['QUERY PLAN'][0]?.Plan;
    } catch (error) {
      if (viewer !== undefined && sqlState(error) === '42501') return undefined;
      throw error;
    }
  }

  return {
    statements: () => declaredStatements().filter(({ name }) => name.startsWith(`${schema}.`)),

    /** Returns the statements that scan one of these tables, or an index not in `short`, completely. */
    async wholeScans(tables: readonly string[], short: readonly string[]): Promise<string[]> {
      const scans: string[] = [];
      for (const { name, text } of this.statements()) {
        for (const node of nodesOf(await explain('generic_plan', text))) {
          const table = node['Relation Name'] ?? '';
          const index = node['Index Name'];
          const whole = index
            ? !node['Index Cond'] && !short.includes(index)
            : node['Node Type'] === 'Seq Scan';
          if (whole && tables.includes(table)) scans.push(`${name}: ${index ?? table}`);
        }
      }
      return scans;
    },

    /** Returns the number of database pages that a statement reads. `values` are SQL expressions. */
    async blocksOf(name: string, values: readonly string[]): Promise<number> {
      const text = declaredStatements().find((one) => one.name === name)?.text ?? '';
      const filled = values.reduceRight((sql, value, index) => sql.replaceAll(`$${index + 1}`, value), text);
      const plan = await explain('analyze, buffers', filled);
      return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
    },
  };
}

function nodesOf(node: Node | undefined): Node[] {
  return node ? [node, ...(node.Plans ?? []).flatMap(nodesOf)] : [];
}
