import type { CommandStartedEvent, Db, Document, MongoClient } from 'mongodb';
import { queriesOf } from './query-shape.ts';

/** Plan by which the server finds the documents of one query. */
export interface Plan {
  readonly stages: Set<string>;
  readonly examined: number;
}

/** Returns the plan of each query that the work sends. The client must monitor its commands. */
export async function plansOf(mongo: MongoClient, db: Db, work: () => Promise<unknown>): Promise<Plan[]> {
  const commands: Document[] = [];
  const keep = ({ command }: CommandStartedEvent) => commands.push(command);
  mongo.on('commandStarted', keep);
  await work().finally(() => mongo.off('commandStarted', keep));
  const queries = commands.flatMap(queriesOf);
  return Promise.all(queries.map(({ bare }) => planOf(db, bare)));
}

/**
 * Returns the plan of a command with one query (see {@link queriesOf}). The command is only explained, so has no
 * effect.
 */
export async function planOf(db: Db, bare: Document): Promise<Plan> {
  const explained = await db.command({ explain: bare, verbosity: 'executionStats' });
  const stages = valuesOf(explained, 'stage').filter((stage) => typeof stage === 'string');
  const examined = valuesOf(explained, 'totalDocsExamined').map(Number);
  return { stages: new Set(stages), examined: Math.max(...examined) };
}

function valuesOf(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'rejectedPlans') return [];
    return key === name ? [inner] : valuesOf(inner, name);
  });
}
