//! What can be judged only when all types are known: names that lead in a circle, and products that are too large.

use std::collections::{BTreeMap, BTreeSet};

use super::{Projection, Type};

/// Ways to choose one of each of several unions; TypeScript gives up at 100,000.
const MOST_WAYS: usize = 1_000;

/// Makes a projection one that TypeScript takes.
pub(super) fn settle(projection: Projection) -> Projection {
    let Projection { mut root, aliases } = projection;
    let order: Vec<String> = aliases.iter().map(|(name, _)| name.clone()).collect();
    let mut aliases: BTreeMap<String, Type> = aliases.into_iter().collect();
    break_circles(&mut aliases);
    let mut known = BTreeMap::new();
    for name in &order {
        ways_of_name(name, &aliases, &mut known);
    }
    for alias in aliases.values_mut() {
        thin(alias, &known);
    }
    thin(&mut root, &known);
    let aliases = order.into_iter().filter_map(|name| aliases.remove(&name).map(|alias| (name, alias))).collect();
    Projection { root, aliases }
}

/// A name that comes to itself with no object or array between says nothing.
fn break_circles(aliases: &mut BTreeMap<String, Type>) {
    let names: Vec<String> = aliases.keys().cloned().collect();
    for name in names {
        if reaches_itself(&name, aliases) {
            aliases.insert(name, Type::Unknown);
        }
    }
}

fn reaches_itself(name: &str, aliases: &BTreeMap<String, Type>) -> bool {
    let mut seen = BTreeSet::new();
    let mut ahead = vec![name];
    while let Some(next) = ahead.pop() {
        let mut bare = Vec::new();
        aliases.get(next).into_iter().for_each(|alias| bare_names(alias, &mut bare));
        for found in bare {
            if found == name {
                return true;
            }
            if seen.insert(found) {
                ahead.push(found);
            }
        }
    }
    false
}

/// The names that a type comes to without going into an object or array.
fn bare_names<'t>(of: &'t Type, names: &mut Vec<&'t str>) {
    match of {
        Type::Named(name) => names.push(name),
        Type::Union(types) | Type::Intersection(types) => types.iter().for_each(|one| bare_names(one, names)),
        _ => {}
    }
}

/// How many plain types a name stands for. Circles are broken, so this ends.
fn ways_of_name(name: &str, aliases: &BTreeMap<String, Type>, known: &mut BTreeMap<String, usize>) -> usize {
    if let Some(ways) = known.get(name) {
        return *ways;
    }
    let found = aliases.get(name).map_or(1, |alias| ways(alias, &mut |name| ways_of_name(name, aliases, known)));
    known.insert(name.to_owned(), found);
    found
}

/// How many plain types a type stands for.
fn ways(of: &Type, named: &mut dyn FnMut(&str) -> usize) -> usize {
    match of {
        Type::Named(name) => named(name),
        Type::Union(types) => types.iter().map(|one| ways(one, named)).fold(0, usize::saturating_add),
        Type::Intersection(types) => types.iter().map(|one| ways(one, named)).fold(1, usize::saturating_mul),
        _ => 1,
    }
}

/// Leaves out what makes an intersection stand for too many types: it takes more then, never less.
fn thin(of: &mut Type, known: &BTreeMap<String, usize>) {
    match of {
        Type::Array(each) => thin(each, known),
        Type::Tuple { items, rest } => {
            items.iter_mut().for_each(|(item, _)| thin(item, known));
            rest.iter_mut().for_each(|rest| thin(rest, known));
        }
        Type::Object(object) => {
            object.members.iter_mut().for_each(|member| thin(&mut member.holds, known));
            object.others.iter_mut().for_each(|others| thin(others, known));
        }
        Type::Union(types) => types.iter_mut().for_each(|one| thin(one, known)),
        Type::Intersection(types) => {
            types.iter_mut().for_each(|one| thin(one, known));
            let mut product = 1usize;
            types.retain(|one| {
                let ways = ways(one, &mut |name| known.get(name).copied().unwrap_or(1));
                let with = product.saturating_mul(ways);
                let fits = with <= MOST_WAYS;
                if fits {
                    product = with;
                }
                fits
            });
            match types.len() {
                0 => *of = Type::Unknown,
                1 => *of = types.swap_remove(0),
                _ => {}
            }
        }
        Type::Unknown | Type::Never | Type::Word(_) | Type::Named(_) => {}
    }
}
