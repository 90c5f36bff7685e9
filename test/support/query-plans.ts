import type { CommandStartedEvent, Db, Document, MongoClient } from 'mongodb';

/** Plan by which the server finds the documents of one command. */
export interface Plan {
  readonly stages: Set<string>;
  readonly examined: number;
}

/** Returns the plan of each command that the work sends. The client monitors its commands. */
export async function plansOf(mongo: MongoClient, db: Db, work: () => Promise<unknown>): Promise<Plan[]> {
  const commands: Document[] = [];
  const keep = ({ command, commandName }: CommandStartedEvent) => {
    if (['find', 'aggregate', 'update', 'delete', 'findAndModify'].includes(commandName)) commands.push(command);
  };
  mongo.on('commandStarted', keep);
  await work().finally(() => mongo.off('commandStarted', keep));
  const bare = commands.map(
    ({ lsid, txnNumber, startTransaction, autocommit, readConcern, writeConcern, $clusterTime, $db, ...rest }) => rest,
  );
  return Promise.all(
    bare.map(async (command) => {
      const explained = await db.command({ explain: command, verbosity: 'executionStats' });
      const stages = valuesOf(explained, 'stage').filter((stage) => typeof stage === 'string');
      const examined = valuesOf(explained, 'totalDocsExamined').map(Number);
      return { stages: new Set(stages), examined: Math.max(...examined) };
    }),
  );
}

function valuesOf(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'rejectedPlans') return [];
    return key === name ? [inner] : valuesOf(inner, name);
  });
}
