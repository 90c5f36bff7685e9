import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

interface Reference {
  readonly $ref: string;
}

interface Message {
  readonly payload: Reference;
  readonly examples: readonly { readonly name: string; readonly payload: unknown }[];
}

interface Operation {
  readonly action: 'send' | 'receive';
  readonly channel: Reference;
  readonly messages: readonly Reference[];
  readonly reply?: { readonly channel: Reference; readonly messages: readonly Reference[] };
}

/** The parts of an AsyncAPI document that the tests read. */
export interface AsyncApiDocument {
  readonly channels: Readonly<
    Record<string, { readonly address: string; readonly messages: Readonly<Record<string, Reference>> }>
  >;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>;
    readonly schemas: Readonly<Record<string, { readonly properties?: object }>>;
  };
}

/** Checks real messages against the AsyncAPI document. */
export interface AsyncApiChecker {
  /** Returns the names of the messages whose schemas this payload matches: exactly one, if the document is right. */
  namesOf(channel: string, payload: unknown): string[];
  /** Returns the members that the message's schema does not have. */
  unknownMembers(name: string, payload: object): string[];
}

/** Payload schemas of AsyncAPI 3.0 are a superset of JSON Schema draft 07. */
export function asyncApiChecker({ channels, components }: AsyncApiDocument): AsyncApiChecker {
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false });
  addFormats.default(ajv, ['uuid', 'date-time']);
  ajv.addKeyword({ keyword: 'components', schemaType: 'object' });
  ajv.addSchema({ $id: 'https://streams.test/', components: { schemas: components.schemas } });
  const validators = new Map<string, ValidateFunction>(
    Object.entries(components.messages).map(([name, { payload }]) => [
      name,
      ajv.compile({ $ref: `https://streams.test/${payload.$ref}` }),
    ]),
  );
  return {
    namesOf: (channel, payload) =>
      Object.keys(channels[channel]?.messages ?? {}).filter((name) => validators.get(name)?.(payload)),
    unknownMembers(name, payload) {
      const schema = components.messages[name]?.payload.$ref.split('/').at(-1) ?? '';
      const known = Object.keys(components.schemas[schema]?.properties ?? {});
      return Object.keys(payload).filter((member) => !known.includes(member));
    },
  };
}
