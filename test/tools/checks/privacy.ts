/** The texts that are held against each other. */
export interface PrivacySources {
  /** docs/privacy.md. */
  readonly page: string;
  /** libs/stores/src/documents.ts and event-documents.ts. */
  readonly documents: string;
  /** libs/stores/src/collections.ts. */
  readonly collections: string;
}

/** Returns what the page of privacy lacks, and what it names that is not there: a row names `field` or `part.field`. */
export function findPrivacyFaults({ page, documents, collections }: PrivacySources): string[] {
  const interfaces = interfacesIn(documents);
  const stored = collectionsIn(collections).flatMap(([collection, type]) =>
    fieldsOf(type, interfaces).map((field) => `${collection}.${field}`),
  );
  const named = namedIn(page);
  return [
    ...stored.filter((field) => !named.includes(field)).map((field) => `no row names ${field}`),
    ...named.filter((field) => !stored.includes(field)).map((field) => `there is no field ${field}`),
  ].sort();
}

/** Returns the collections' names in the database, each with the type of its documents. */
function collectionsIn(source: string): [collection: string, type: string][] {
  const types = [...source.matchAll(/readonly (\w+): Collection<(\w+)>;/g)];
  return types.map(([, key = '', type = '']) => {
    const name = new RegExp(`\\b${key}: db\\.collection\\('(\\w+)'\\)`).exec(source)?.[1];
    if (name === undefined) throw new Error(`collections.ts does not name ${key}`);
    return [name, type];
  });
}

/** Returns the body of each interface with what it extends, without comments. */
function interfacesIn(source: string): Map<string, string> {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const interfaces = new Map<string, string>();
  // A part stands before what extends it.
  for (const [, name = '', parent = '', body = ''] of code.matchAll(
    /^export interface (\w+)(?: extends (\w+))? \{\n([\s\S]*?)^\}/gm,
  ))
    interfaces.set(name, (interfaces.get(parent) ?? '') + body);
  return interfaces;
}

/** Returns the fields of a document, those of its parts with their path. */
function fieldsOf(type: string, interfaces: ReadonlyMap<string, string>): string[] {
  const body = interfaces.get(type);
  if (body === undefined) throw new Error(`the documents have no interface ${type}`);
  return [...body.matchAll(/^ {2}readonly (\w+)\??: (.+);$/gm)].flatMap(([, field = '', text = '']) => {
    const part = [...interfaces.keys()].find((name) => new RegExp(`\\b${name}\\b`).test(text));
    const inner = part === undefined ? partsIn(text) : fieldsOf(part, interfaces);
    return inner.length === 0 ? [field] : inner.map((name) => `${field}.${name}`);
  });
}

/** Returns the fields of an object type that is written out. */
function partsIn(text: string): string[] {
  return [...text.matchAll(/readonly (\w+)\??:/g)].map(([, name = '']) => name);
}

/** Returns the fields that the first cells of the tables under each collection's heading name. */
function namedIn(page: string): string[] {
  const sections = page.split(/^#{2,3} /m).flatMap((section) => {
    const name = /^`(\w+)`/.exec(section)?.[1];
    return name === undefined ? [] : [{ name, section }];
  });
  return sections.flatMap(({ name, section }) =>
    [...section.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([\w.]+)`/g)].map(([, field = '']) => `${name}.${field}`),
    ),
  );
}
