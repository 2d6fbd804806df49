//! The functions that Java calls (`org.meed.yarn.Native`).
//!
//! Unsafe is one thing only: a function that is found by its name must be exported by it
//! (`#[unsafe(no_mangle)]`), which is unsafe because another library might export the same name;
//! the names are those that JNI makes of a class of our own. No pointer is followed here: the `jni`
//! crate reads and makes the arrays, and a panic or an error becomes an exception of Java
//! (`with_env`).
#![expect(unsafe_code, reason = "exporting a function by name, see above")]

use jni::EnvUnowned;
use jni::errors::{Result, ThrowRuntimeExAndDefault};
use jni::objects::{JByteArray, JClass};
use jni::sys::{jint, jlong};

use crate::worker;

/// The version of the protocol that this library speaks.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_org_meed_yarn_Native_protocol<'l>(
    _env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jint {
    crate::PROTOCOL as jint
}

/// Answers a question: see [`worker::ask`].
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_org_meed_yarn_Native_ask<'l>(
    mut env: EnvUnowned<'l>,
    _class: JClass<'l>,
    handle: jlong,
    question: JByteArray<'l>,
) -> JByteArray<'l> {
    env.with_env(|env| -> Result<JByteArray<'l>> {
        let question = env.convert_byte_array(question)?;
        env.byte_array_from_slice(&worker::ask(handle, &question))
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Closes a ledger: see [`worker::close`].
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_org_meed_yarn_Native_close<'l>(
    mut env: EnvUnowned<'l>,
    _class: JClass<'l>,
    handle: jlong,
) {
    env.with_env(|_| -> Result<()> {
        worker::close(handle);
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}
