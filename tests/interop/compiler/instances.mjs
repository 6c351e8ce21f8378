// Values that a schema takes. What comes out is checked by a validator, so it may try and fail.
import Ajv2020 from 'ajv/dist/2020.js';

/** Numbers that are the same at every run. */
export function random(seed) {
    let state = seed >>> 0 || 1;
    const next = () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return (state >>> 0) / 2 ** 32;
    };
    return { below: (most) => Math.floor(next() * most), chance: (odds) => next() < odds };
}

/** A function that says whether a value fits `schema`, or nothing if the schema is none. */
export function validator(schema) {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, addUsedSchema: false });
    try {
        const fits = ajv.compile(explicit(schema));
        return (value) => tried(() => fits(value)) ?? false;
    } catch {
        return undefined;
    }
}

/** The schema with the type that it means where it only says what members or items hold. */
function explicit(schema) {
    if (Array.isArray(schema)) return schema.map(explicit);
    if (typeof schema !== 'object' || schema === null) return schema;
    const literal = new Set(['const', 'enum', 'default']);
    const said = Object.entries(schema).map(([word, value]) => [word, literal.has(word) ? value : explicit(value)]);
    const made = Object.fromEntries(said);
    const speaksOf = (words) => words.some((word) => Object.hasOwn(schema, word));
    if (!('type' in schema) && !('const' in schema) && !('enum' in schema)) {
        if (speaksOf(OF_OBJECTS)) made.type = 'object';
        else if (speaksOf(OF_ARRAYS)) made.type = 'array';
    }
    return made;
}

/** The validator calls methods of values, which may have members of the same name. */
function tried(body) {
    try {
        return body();
    } catch {
        return undefined;
    }
}

/** A value that probably fits `schema`. */
export function instance(schema, dice, root = schema, depth = 0) {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || depth > 12) return 'any';
    if ('const' in schema) return schema.const;
    if (Array.isArray(schema.enum)) return schema.enum[dice.below(schema.enum.length)];
    const parts = [];
    const add = (part) => parts.push(instance(part, dice, root, depth + 1));
    if (typeof schema.$ref === 'string') add(resolve(root, schema.$ref));
    for (const keyword of ['anyOf', 'oneOf']) {
        if (Array.isArray(schema[keyword])) add(schema[keyword][dice.below(schema[keyword].length)]);
    }
    if (Array.isArray(schema.allOf)) schema.allOf.forEach(add);
    parts.push(...own(schema, dice, root, depth));
    const objects = parts.filter((part) => typeof part === 'object' && part !== null && !Array.isArray(part));
    if (objects.length > 1) return objects.reduce((all, one) => ({ ...all, ...one }));
    return parts[0] ?? 'any';
}

const OF_OBJECTS = ['properties', 'required', 'additionalProperties', 'patternProperties'];
const OF_ARRAYS = ['items', 'prefixItems'];

function own(schema, dice, root, depth) {
    const types = Array.isArray(schema.type) ? schema.type : schema.type ? [schema.type] : [];
    const type = types[dice.below(Math.max(types.length, 1))];
    if (schema.nullable === true && types.length === 0 && dice.chance(0.2)) return [null];
    const isObject = OF_OBJECTS.some((word) => word in schema);
    const isArray = OF_ARRAYS.some((word) => word in schema);
    switch (type ?? (isObject ? 'object' : isArray ? 'array' : undefined)) {
        case 'null': return [null];
        case 'boolean': return [dice.chance(0.5)];
        case 'string': return ['x'.repeat(Math.min(schema.minLength ?? dice.below(4), 100))];
        case 'integer': return [Math.max(schema.minimum ?? 0, Math.min(schema.maximum ?? 5, dice.below(9)))];
        case 'number': return [Math.max(schema.minimum ?? 0, Math.min(schema.maximum ?? 5, dice.below(9) / 2))];
        case 'object': return [object(schema, dice, root, depth)];
        case 'array': return [array(schema, dice, root, depth)];
        default: return [];
    }
}

function object(schema, dice, root, depth) {
    const made = {};
    const properties = typeof schema.properties === 'object' && schema.properties !== null ? schema.properties : {};
    const required = Array.isArray(schema.required) ? schema.required : [];
    for (const name of new Set([...Object.keys(properties), ...required])) {
        if (required.includes(name) || dice.chance(0.6)) {
            const value = name in properties && Object.hasOwn(properties, name) ? properties[name] : {};
            Object.defineProperty(made, name, { value: instance(value, dice, root, depth + 1), enumerable: true, configurable: true, writable: true });
        }
    }
    const others = schema.additionalProperties;
    if (typeof others === 'object' && others !== null && dice.chance(0.5)) made.extra = instance(others, dice, root, depth + 1);
    return made;
}

function array(schema, dice, root, depth) {
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    const least = Math.min(schema.minItems ?? 0, 20);
    const count = Math.max(least, first.length > 0 && dice.chance(0.5) ? first.length : 0, schema.items === false ? 0 : dice.below(3));
    const made = [];
    for (let at = 0; at < count; at++) {
        if (at >= first.length && schema.items === false) break;
        made.push(instance(at < first.length ? first[at] : schema.items ?? {}, dice, root, depth + 1));
    }
    return made;
}

function resolve(root, reference) {
    if (!reference.startsWith('#') || reference.includes('%')) return undefined;
    let at = root;
    for (const step of reference.slice(1).split('/').slice(1)) {
        at = at?.[step.replaceAll('~1', '/').replaceAll('~0', '~')];
    }
    return at;
}
