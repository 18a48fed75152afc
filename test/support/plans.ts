import { declaredStatements } from '../../lib/db/database.ts';
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

/** What PostgreSQL does to answer the statements of one schema. */
export function plansOf(databaseUrl: string, schema: string) {
  const options = `-c search_path=${schema} -c enable_bitmapscan=off`;
  const url = `${databaseUrl}?options=${encodeURIComponent(options)}`;

  async function explain(how: string, text: string): Promise<Node | undefined> {
    const [row] = await rowsOn<{ 'QUERY PLAN': { Plan: Node }[] }>(
      url,
      `explain (${how}, format json) ${text}`,
    );
    return row?.['QUERY PLAN'][0]?.Plan;
  }

  return {
    statements: () => declaredStatements().filter(({ name }) => name.startsWith(`${schema}.`)),

    /** Statements that read one of these tables, or an index other than the short ones, from one end to the other. */
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

    /** Pages of the database that a statement reads with these values, which are SQL. */
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
