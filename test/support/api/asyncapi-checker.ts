import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

interface Reference {
  readonly $ref: string;
}

/** The parts of an AsyncAPI document by which messages are checked. */
interface AsyncApiDocument {
  readonly channels: Readonly<Record<string, { readonly messages: object }>>;
  readonly components: {
    readonly messages: Readonly<Record<string, { readonly payload: Reference }>>;
    readonly schemas: Readonly<Record<string, { readonly properties?: object }>>;
  };
}

/**
 * Checks real messages against the AsyncAPI document. Payload schemas of AsyncAPI 3.0 are a superset of JSON Schema draft
 * 07.
 */
export function asyncApiChecker({ channels, components }: AsyncApiDocument) {
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
    /** Returns the names of the messages whose schemas this payload matches: exactly one, if the document is right. */
    namesOf: (channel: string, payload: unknown) =>
      Object.keys(channels[channel]?.messages ?? {}).filter((name) => validators.get(name)?.(payload)),
    /** Returns the members that the message's schema does not have. */
    unknownMembers(name: string, payload: object): string[] {
      const schema = components.messages[name]?.payload.$ref.split('/').at(-1) ?? '';
      const known = Object.keys(components.schemas[schema]?.properties ?? {});
      return Object.keys(payload).filter((member) => !known.includes(member));
    },
  };
}
