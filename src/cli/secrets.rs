//! Choose the environment of programs: nothing that looks like a secret, unless the user says so.
//!
//! The environment is kept with a run, because later runs must see the same. So a secret that is not to be kept
//! must not be given to the program in the first place.

use std::ffi::{OsStr, OsString};

/// The parts of a name that mark a secret anywhere.
const ANYWHERE: [&str; 5] = ["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"];

/// The ends of a word of the name that mark a secret, in the singular or the plural; numbers may follow.
/// `KEYBOARD` and `TOKENIZERS_PARALLELISM` are no secrets.
const AT_THE_END: [&str; 2] = ["TOKEN", "KEY"];

/// English words with such an end.
const HARMLESS: [&str; 4] = ["MONKEY", "DONKEY", "TURKEY", "HOTKEY"];

/// Removes the variables that look like secrets from an environment; returns their names.
pub(super) fn withhold(environment: &mut Vec<(OsString, OsString)>) -> Vec<String> {
    let secrets = environment.extract_if(.., |(name, _)| is_secret(name));
    secrets.map(|(name, _)| name.to_string_lossy().into_owned()).collect()
}

/// True if the value of a variable of this name is probably a secret.
fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let ends_so = |word: &str| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('S');
        AT_THE_END.iter().any(|end| word.ends_with(end)) && !HARMLESS.contains(&word)
    };
    ANYWHERE.iter().any(|part| name.contains(part))
        || name.split(|c: char| !c.is_ascii_alphanumeric()).any(ends_so)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_by_the_words_of_their_names() {
        let secret = [
            "GITHUB_TOKEN",
            "token",
            "NPM_TOKEN_2",
            "API_TOKENS",
            "AWS_ACCESS_KEY_ID",
            "OPENAI_API_KEY",
            "apikey",
            "SSH_KEYS",
            "KEY1",
            "AWS_SECRET_ACCESS_KEY",
            "my-secret",
            "CLIENTSECRET",
            "PGPASSWORD",
            "db_password",
            "MYSQL_PASSWD",
            "GPG_PASSPHRASE",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ];
        for name in secret {
            assert!(is_secret(name.as_ref()), "{name}");
        }
        let harmless = [
            "PATH",
            "PWD",
            "KEYBOARD",
            "XKB_DEFAULT_LAYOUT",
            "KEYMAP",
            "KEYTIMEOUT",
            "TOKENIZERS_PARALLELISM",
            "MONKEY",
            "HOTKEYS",
            "SSH_AUTH_SOCK",
            "GNOME_KEYRING_CONTROL",
            "LS_COLORS",
            "",
        ];
        for name in harmless {
            assert!(!is_secret(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn what_is_withheld_is_named_and_gone() {
        let pair = |name: &str| (name.into(), "x".into());
        let mut environment = ["A_KEY", "HOME", "B_TOKEN"].map(pair).to_vec();
        assert_eq!(withhold(&mut environment), ["A_KEY", "B_TOKEN"]);
        assert_eq!(environment, [pair("HOME")]);
    }
}
