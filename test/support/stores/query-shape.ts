import type { Document } from 'mongodb';

/** One query of a collection. An `update` or `delete` command has one query for each of its statements. */
export interface Query {
  readonly collection: string;
  /** `find`, `aggregate`, `distinct`, `findAndModify`, `update` or `delete`. */
  readonly verb: string;
  readonly filter: Document;
  readonly sort: Document | Map<string, unknown>;
  /** The command with this query alone and without the fields of its session, for `explain`. */
  readonly bare: Document;
}

/** Returns the queries of a command: none if it asks for no documents. */
export function queriesOf(command: Document): Query[] {
  const { lsid, txnNumber, startTransaction, autocommit, readConcern, writeConcern, $clusterTime, $db, ...bare } =
    command;
  const [verb = '', collection] = Object.entries(bare)[0] ?? [];
  const one = (filter: Document = {}, sort: Document = {}, alone = bare) => [
    { collection, verb, filter, sort, bare: alone },
  ];
  switch (verb) {
    case 'find':
      return one(bare.filter, bare.sort);
    case 'findAndModify':
    case 'distinct':
      return one(bare.query, bare.sort);
    case 'aggregate':
      return one(bare.pipeline[0]?.$match);
    case 'update':
      return bare.updates.flatMap((update: Document) => one(update.q, {}, { ...bare, updates: [update] }));
    case 'delete':
      return bare.deletes.flatMap((each: Document) => one(each.q, {}, { ...bare, deletes: [each] }));
    default:
      return [];
  }
}

/** Returns the same text for queries that differ only in their values: `users find {_id, home_group_id}`. */
export function shapeOf({ collection, verb, filter, sort }: Query): string {
  const order = (sort instanceof Map ? [...sort.keys()] : Object.keys(sort)).join(', ');
  return `${collection} ${verb} {${filterShape(filter)}}${order === '' ? '' : ` by ${order}`}`;
}

const ranges = new Set(['$gt', '$gte', '$lt', '$lte']);

function filterShape(filter: Document): string {
  const conditions = Object.entries(filter).flatMap(([field, value]) => conditionsOf(field, value));
  return [...new Set(conditions)].sort().join(', ');
}

function conditionsOf(field: string, value: unknown): string[] {
  if (field === '$and') {
    return (value as Document[]).flatMap((each) =>
      Object.entries(each).flatMap(([name, of]) => conditionsOf(name, of)),
    );
  }
  if (field === '$or' || field === '$nor') return [`${field}(${(value as Document[]).map(filterShape).join(' | ')})`];
  if (field.startsWith('$')) return [field];
  // The field's second part is the name of a subscriber.
  const name = field.replace(/^replays\..*/, 'replays.*');
  const operators = operatorsOf(value);
  if (operators.length === 0) return [name];
  return [...new Set(operators.map(([operator, operand]) => conditionOf(name, operator, operand)))];
}

function conditionOf(name: string, operator: string, operand: unknown): string {
  if (operator === '$eq') return name;
  if (ranges.has(operator)) return `${name} <>`;
  if (operator === '$elemMatch') return `${name} [${filterShape(operand as Document)}]`;
  return `${name} ${operator.slice(1)}`;
}

/** Returns the operators of a condition: none if the condition is the value that the field must equal. */
function operatorsOf(value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return [];
  const entries = Object.entries(value);
  return entries.every(([key]) => key.startsWith('$')) ? entries : [];
}
